"""The stream of one turn's events: what is stored, then what happens, then the end, each exactly once.

An event counts once it is stored. What is heard live is only taken when its number is the next one;
whatever is missing in between is read from SQL. The end is the turn's row, whoever ended it.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Final, Protocol

from refund_agent.facade import Unreadable
from refund_agent.journal import Event, StoredEvents
from refund_agent.languages import Language
from refund_agent.ports import Clock, StoreUnavailable
from refund_agent.turn import TurnRecord
from web.event_views import frame, write_frame
from web.turn_view import view

HEARTBEAT_SECONDS: Final = 15.0
LOOK_ROUND_SECONDS: Final = 2.0
"""How soon a client that has gone is noticed, and how soon a database that was away is asked again."""
MAX_STREAM_SECONDS: Final = 900.0
"""A turn is over long before; a stream that is not is cut, and its client comes back for the rest."""
MAX_PAGES: Final = 20
HELLO: Final = b"retry: 2000\n: the events of one turn\n\n"
HEARTBEAT: Final = b": still here\n\n"


class Glimpse(Protocol):
    """What has come since the last look."""

    @property
    def events(self) -> Sequence[Event]:
        """Events as heard: perhaps doubled, perhaps with gaps."""
        ...

    @property
    def newest(self) -> int:
        """The newest number known to be stored."""
        ...

    @property
    def may_have_ended(self) -> bool:
        """Whether the turn's row should be looked at."""
        ...


class Watcher(Protocol):
    """One who watches a turn."""

    def wait(self, seconds: float) -> None:
        """Sleep until there is something to look at, or the time is over."""
        ...

    def take(self) -> Glimpse:
        """Take what has come."""
        ...

    @property
    def closing(self) -> bool:
        """Whether nobody may wait any longer."""
        ...


class Watching(Protocol):
    """Where streams wait."""

    def watch(self, turn_id: str) -> AbstractContextManager[Watcher]:
        """Watch a turn."""
        ...


FindTurn = Callable[[str], TurnRecord | Unreadable | None]


class TurnStream:
    """One stream: iterate over `frames` once."""

    def __init__(  # noqa: PLR0913 - what a stream reads, whom it is for, and when it stops
        self,
        turn_id: str,
        *,
        after: int,
        shows_all: bool,
        find: FindTurn,
        stored: StoredEvents,
        watching: Watching,
        clock: Clock,
        client_is_gone: Callable[[], bool],
        language: Language | None = None,
    ) -> None:
        self._turn_id = turn_id
        self._seen = after
        self._shows_all = shows_all
        self._find = find
        self._stored = stored
        self._watching = watching
        self._clock = clock
        self._client_is_gone = client_is_gone
        self._language: Language | None = language
        self._must_look = True
        self._over_at = clock.monotonic() + MAX_STREAM_SECONDS
        self._ended: TurnRecord | None = None

    def frames(self) -> Iterator[bytes]:
        """Yield the stream's bytes, a heartbeat when there are none for long, and the end."""
        with self._watching.watch(self._turn_id) as watcher:
            yield HELLO
            quiet_since = self._clock.monotonic()
            while not (self._is_over() or watcher.closing or self._client_is_gone()):
                for text in self._news(watcher.take()):
                    yield text
                    quiet_since = self._clock.monotonic()
                if self._ended is not None:
                    yield write_frame(self._seen + 1, "ended", view(self._ended, self._language))
                    return
                if self._clock.monotonic() - quiet_since >= HEARTBEAT_SECONDS:
                    yield HEARTBEAT
                    quiet_since = self._clock.monotonic()
                watcher.wait(LOOK_ROUND_SECONDS)

    def _is_over(self) -> bool:
        return self._clock.monotonic() >= self._over_at

    def _news(self, glimpse: Glimpse) -> Generator[bytes]:
        """Yield what this viewer is shown of what is new, in order, and remember how far it came."""
        fresh = _in_a_row(glimpse.events, self._seen)
        if fresh is None or glimpse.newest > self._seen + len(fresh):
            self._must_look = True
        for event in self._look() if self._must_look or glimpse.may_have_ended else fresh or ():
            self._seen = event.seq
            if text := frame(event, shows_all=self._shows_all):
                yield text

    def _look(self) -> list[Event]:
        """Read the row first and the events after it: what an ended turn has done is then all there."""
        self._must_look = True  # until all of this has worked
        found = self._find(self._turn_id)
        if isinstance(found, Unreadable):
            return []
        try:
            events = self._stored_after(self._seen)
        except StoreUnavailable:
            return []
        self._must_look = False
        if found is None:
            self._over_at = self._clock.monotonic()  # it was old enough to be forgotten
        elif found.state == "ended":
            self._ended = found
        return events

    def _stored_after(self, seq: int) -> list[Event]:
        events: list[Event] = []
        for _ in range(MAX_PAGES):
            page = self._stored.after(self._turn_id, events[-1].seq if events else seq)
            if not page:
                break
            events += page
        return events


def _in_a_row(events: Sequence[Event], seen: int) -> list[Event] | None:
    """Return those after `seen` when their numbers follow it one by one; None: some are missing."""
    fresh = [event for event in events if event.seq > seen]
    follows = [event.seq for event in fresh] == list(range(seen + 1, seen + 1 + len(fresh)))
    return fresh if follows else None
