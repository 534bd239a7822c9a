"""Where web threads sleep until their turn has ended.

One listener thread a process hears the ids of ended turns and wakes the threads that wait for them.
About once a second it also asks SQL for all waited-for ids, so a lost wake-up, or Redis being away,
costs a second and nothing else.
"""

import threading
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager

import structlog

from refund_agent.ports import Clock, Listener, Signals, SignalsUnavailable, StoreUnavailable, Turns

log = structlog.stdlib.get_logger(__name__)

LOOK_SECONDS = 1.0
MAX_IDS_A_LOOK = 500


class WaitingSeat:
    """One place in the room. `may_have_ended` tells a wake-up for the turn's end from a nudge."""

    def __init__(self) -> None:
        self._woken = threading.Event()
        self.may_have_ended = False

    def wait(self, seconds: float) -> None:
        """Sleep until woken, or until the time is over."""
        self._woken.wait(max(0.0, seconds))
        self._woken.clear()

    def wake(self) -> None:
        """End the sleep: the turn has ended, or nobody may wait any longer."""
        self.may_have_ended = True
        self._woken.set()

    def nudge(self) -> None:
        """End the sleep of somebody who waits for more than the turn's end."""
        self._woken.set()


class ListeningRoom:
    """Implements the port `WaitingRoom`; starts its thread with the first seat, so after any fork."""

    def __init__(
        self, *, signals: Signals, turns: Turns, clock: Clock, tell_waiting: Callable[[int], None]
    ) -> None:
        self._signals = signals
        self._turns = turns
        self._clock = clock
        self._tell_waiting = tell_waiting
        self._seats: dict[str, list[WaitingSeat]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._looked_at = 0.0

    @contextmanager
    def seat(self, turn_id: str) -> Generator[WaitingSeat]:
        """Take a seat before the turn is queued, so that no wake-up is missed."""
        seat = WaitingSeat()
        with self._lock:
            self._seats.setdefault(turn_id, []).append(seat)
            if self.closing:
                seat.wake()  # `close` has woken everybody already
            self._start_listening()
        try:
            yield seat
        finally:
            with self._lock:
                self._seats[turn_id].remove(seat)
                if not self._seats[turn_id]:
                    del self._seats[turn_id]

    @property
    def closing(self) -> bool:
        """Whether the process is about to stop, so that nobody may wait any longer."""
        return self._closing.is_set()

    @property
    def waiting(self) -> int:
        """How many threads wait now."""
        with self._lock:
            return sum(len(seats) for seats in self._seats.values())

    def close(self) -> None:
        """Stop listening and wake everybody: the process is about to stop, so all must be answered."""
        self._closing.set()
        with self._lock:
            waiting = list(self._seats)
        self._wake(waiting)

    def _start_listening(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._listen, name="waiting-room", daemon=True)
            self._thread.start()

    def _listen(self) -> None:
        while not self._closing.is_set():
            try:
                with self._signals.listen() as listener:
                    self._hear(listener)
            except SignalsUnavailable as error:
                log.warning("waiting_room_deaf", error=str(error))
                self._look()
                self._closing.wait(LOOK_SECONDS / 2)

    def _hear(self, listener: Listener) -> None:
        while not self._closing.is_set():
            ended = listener.next(seconds=LOOK_SECONDS / 2)
            if ended is not None:
                self._wake([ended])
            if self._clock.monotonic() - self._looked_at >= LOOK_SECONDS:
                self._look()

    def _look(self) -> None:
        """Ask SQL which of the waited-for turns have ended."""
        self._looked_at = self._clock.monotonic()
        with self._lock:
            ids = list(self._seats)
        for start in range(0, len(ids), MAX_IDS_A_LOOK):
            try:
                self._wake(self._turns.ended(ids[start : start + MAX_IDS_A_LOOK]))
            except StoreUnavailable:
                break
        self._tell_waiting(self.waiting)

    def _wake(self, turn_ids: Collection[str]) -> None:
        with self._lock:
            for turn_id in turn_ids:
                for seat in self._seats.get(turn_id, ()):
                    seat.wake()
