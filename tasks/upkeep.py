"""The thread that keeps a worker's leases, sweeps, and hands turns over when the worker has to stop."""

import threading

import structlog

from refund_agent.alarms import alarms
from refund_agent.ports import Clock, StoreUnavailable
from refund_agent.wiring import WorkerParts

log = structlog.stdlib.get_logger(__name__)

HAND_OVER_AFTER_SECONDS = 10.0
"""After SIGTERM, which comes 30 s before SIGKILL: a refund claimed until then can still be settled.

Of a deadline of 28 s enough is left for a refund elsewhere: docs/decisions/0005-drain.md.
"""
DRAIN_PAUSE_SECONDS = 1.0
ALARM_PAUSE_SECONDS = 60.0


class Upkeep:
    """Renews this worker's leases and sweeps, three times a lease, from one thread."""

    def __init__(self, parts: WorkerParts, *, owner: str, clock: Clock, lease_seconds: float) -> None:
        self._parts = parts
        self._owner = owner
        self._clock = clock
        self._pause_seconds = lease_seconds / 3
        self._hand_over_at: float | None = None
        self._alarms_at = 0.0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="upkeep", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def drain(self) -> None:
        """Let what runs finish for a while, then hand the rest over. Safe to call from a signal handler."""
        self._hand_over_at = self._clock.monotonic() + HAND_OVER_AFTER_SECONDS

    def stop(self) -> None:
        """Stop after the step at hand."""
        self._stopping.set()
        self._thread.join(timeout=5.0)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._step()
            draining = self._hand_over_at is not None
            self._stopping.wait(DRAIN_PAUSE_SECONDS if draining else self._pause_seconds)
        self._parts.presence.leave(self._owner)

    def _step(self) -> None:
        """Keep leases and sweep once; nothing that fails here may end the thread."""
        running = self._parts.runner.running()
        self._parts.presence.beat(self._owner, len(running))
        try:
            self._parts.sweeps.renew(running, owner=self._owner)
            if self._hand_over_at is not None and self._clock.monotonic() >= self._hand_over_at:
                self._parts.sweeper.hand_over(running, owner=self._owner)
            self._parts.sweeper.sweep()
            for chore in self._parts.chores:
                chore()
            self._raise_alarms()
        except StoreUnavailable as error:
            log.warning("upkeep_failed", error=str(error))
        except Exception:
            log.exception("upkeep_broken")

    def _raise_alarms(self) -> None:
        """Log what must wake somebody up, at most once a minute a worker."""
        now = self._clock.monotonic()
        if now < self._alarms_at:
            return
        self._alarms_at = now + ALARM_PAUSE_SECONDS
        for alarm in alarms(self._parts.figures.stored().trouble):
            log.error("alarm", alarm=alarm.name, value=alarm.value, do=alarm.do)
