"""The threads that keep a worker's leases, sweep, and hand turns over when the worker has to stop.

Leases are renewed by a thread that does nothing else: a worker that counts its figures, or waits for a Redis
that froze, must not look as if it had died.
"""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

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
    """Renews this worker's leases and sweeps, each three times a lease, from a thread each."""

    def __init__(self, parts: WorkerParts, *, owner: str, clock: Clock, lease_seconds: float) -> None:
        self._parts = parts
        self._owner = owner
        self._clock = clock
        self._lease_seconds = lease_seconds
        self._pause_seconds = lease_seconds / 3
        self._hand_over_at: float | None = None
        self._alarms_at = 0.0
        self._trusts_silence_at = 0.0
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._keep_leases, name="leases", daemon=True),
            threading.Thread(target=self._mend, name="upkeep", daemon=True),
        ]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def drain(self) -> None:
        """Let what runs finish for a while, then hand the rest over. Safe to call from a signal handler."""
        self._hand_over_at = self._clock.monotonic() + HAND_OVER_AFTER_SECONDS

    def stop(self) -> None:
        """Stop after the steps at hand."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(timeout=5.0)

    @property
    def _sweep_pause_seconds(self) -> float:
        return self._pause_seconds if self._hand_over_at is None else DRAIN_PAUSE_SECONDS

    def _keep_leases(self) -> None:
        while not self._stopping.is_set():
            self._try(self._renew)
            self._stopping.wait(self._pause_seconds)

    def _mend(self) -> None:
        while not self._stopping.is_set():
            self._parts.presence.beat(self._owner, len(self._parts.runner.running()))
            self._try(self._sweep)
            self._try(self._raise_alarms)
            self._stopping.wait(self._sweep_pause_seconds)
        self._parts.presence.leave(self._owner)

    def _try(self, step: Callable[[], None]) -> None:
        """Take one step; nothing that fails in it may end its thread."""
        try:
            step()
        except StoreUnavailable as error:
            log.warning("upkeep_failed", error=str(error))
        except Exception:
            log.exception("upkeep_broken")

    def _renew(self) -> None:
        with self._noticing_an_outage():
            self._parts.sweeps.renew(self._parts.runner.running(), owner=self._owner)

    def _sweep(self) -> None:
        now = self._clock.monotonic()
        if self._hand_over_at is not None and now >= self._hand_over_at:
            self._parts.sweeper.hand_over(self._parts.runner.running(), owner=self._owner)
        with self._noticing_an_outage():
            self._parts.sweeper.sweep(silence_means_death=now >= self._trusts_silence_at)
        for chore in self._parts.chores:
            chore()

    @contextmanager
    def _noticing_an_outage(self) -> Generator[None]:
        """With the database away nobody can renew a lease: for one lease after it silence proves nothing."""
        try:
            yield
        except StoreUnavailable:
            self._trusts_silence_at = self._clock.monotonic() + self._lease_seconds
            raise

    def _raise_alarms(self) -> None:
        """Log what must wake somebody up, at most once a minute a worker."""
        now = self._clock.monotonic()
        if now < self._alarms_at:
            return
        self._alarms_at = now + ALARM_PAUSE_SECONDS
        for alarm in alarms(self._parts.figures.stored().trouble):
            log.error("alarm", alarm=alarm.name, value=alarm.value, do=alarm.do)
