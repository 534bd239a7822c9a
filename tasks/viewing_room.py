"""Where web threads wait for a turn's next event.

One reader thread a process, over one Redis connection, hears the events of every watched turn and hands
them to whoever watches it. What it hears may have gaps: about once a second it asks SQL for the newest
number of each watched turn, so a lost event, or Redis being away, costs a second and nothing else.
That a turn has ended is heard by the waiting room, in which every watcher has a seat.
"""

import threading
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import structlog

from refund_agent.journal import START, Event, LiveEvents, LiveUnavailable, StoredEvents
from refund_agent.ports import Clock, StoreUnavailable
from tasks.waiting_room import ListeningRoom, WaitingSeat

log = structlog.stdlib.get_logger(__name__)

READ_SECONDS: Final = 0.1
"""A turn that is watched anew is heard from the next read on; until then its events are read from SQL."""
LOOK_SECONDS: Final = 1.0
IDLE_SECONDS: Final = 1.0
MOST_KEPT: Final = 100
"""What a slow watcher has not taken beyond this it reads from SQL."""


@dataclass(frozen=True, slots=True)
class Glimpse:
    """What has come since the last look: events as heard, the newest number known, perhaps the end."""

    events: Sequence[Event]
    newest: int
    may_have_ended: bool


class Watcher:
    """One who watches a turn."""

    def __init__(self, seat: WaitingSeat, room: ListeningRoom) -> None:
        self._seat = seat
        self._room = room
        self._events: deque[Event] = deque(maxlen=MOST_KEPT)
        self._newest = 0

    def wait(self, seconds: float) -> None:
        """Sleep until there is something to look at, or the time is over."""
        self._seat.wait(seconds)

    def take(self) -> Glimpse:
        """Take what has come."""
        ended, self._seat.may_have_ended = self._seat.may_have_ended, False
        events = [self._events.popleft() for _ in range(len(self._events))]
        return Glimpse(events, self._newest, ended)

    @property
    def closing(self) -> bool:
        """Whether the process is about to stop, so that nobody may wait any longer."""
        return self._room.closing

    def show(self, event: Event) -> None:
        """Hand over an event, in the reader's thread; the oldest one is dropped when too many are kept."""
        self._events.append(event)
        self.show_newest(event.seq)

    def show_newest(self, seq: int) -> None:
        """Say that events up to this one are stored."""
        if seq > self._newest:
            self._newest = seq
            self._seat.nudge()


class ViewingRoom:
    """Hands events to watchers; starts its thread with the first of them, so after any fork."""

    def __init__(
        self, *, waiting_room: ListeningRoom, live: LiveEvents, stored: StoredEvents, clock: Clock
    ) -> None:
        self._waiting_room = waiting_room
        self._live = live
        self._stored = stored
        self._clock = clock
        self._watchers: dict[str, list[Watcher]] = {}
        self._positions: dict[str, str] = {}
        self._somebody_watches = threading.Condition()
        self._thread: threading.Thread | None = None
        self._looked_at = 0.0

    @contextmanager
    def watch(self, turn_id: str) -> Generator[Watcher]:
        """Watch a turn. What is stored before this call has to be read from SQL after it."""
        with self._waiting_room.seat(turn_id) as seat:
            watcher = Watcher(seat, self._waiting_room)
            with self._somebody_watches:
                self._watchers.setdefault(turn_id, []).append(watcher)
                self._positions.setdefault(turn_id, START)
                self._start_reading()
                self._somebody_watches.notify()
            try:
                yield watcher
            finally:
                with self._somebody_watches:
                    self._watchers[turn_id].remove(watcher)
                    if not self._watchers[turn_id]:
                        del self._watchers[turn_id], self._positions[turn_id]

    def _start_reading(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._read_all, name="viewing-room", daemon=True)
            self._thread.start()

    def _read_all(self) -> None:
        while not self._waiting_room.closing:
            with self._somebody_watches:
                if not self._watchers and not self._somebody_watches.wait(IDLE_SECONDS):
                    self._live.disconnect()
                after = dict(self._positions)
            if after:
                try:
                    self._read(after)
                except Exception:
                    log.exception("viewing_room_broken")
                    self._clock.sleep(LOOK_SECONDS)
        self._live.disconnect()

    def _read(self, after: dict[str, str]) -> None:
        try:
            heard = self._live.read(after, seconds=READ_SECONDS)
        except LiveUnavailable as error:
            log.warning("viewing_room_deaf", error=str(error))
            self._look()
            self._clock.sleep(LOOK_SECONDS)
            return
        for position, event in heard:
            with self._somebody_watches:
                if event.turn_id in self._positions:
                    self._positions[event.turn_id] = position
                for watcher in self._watchers.get(event.turn_id, ()):
                    watcher.show(event)
        if self._clock.monotonic() - self._looked_at >= LOOK_SECONDS:
            self._look()

    def _look(self) -> None:
        """Ask SQL how far each watched turn is."""
        self._looked_at = self._clock.monotonic()
        with self._somebody_watches:
            turn_ids = list(self._watchers)
        try:
            newest = self._stored.newest(turn_ids)
        except StoreUnavailable:
            return
        with self._somebody_watches:
            for turn_id, seq in newest.items():
                for watcher in self._watchers.get(turn_id, ()):
                    watcher.show_newest(seq)
