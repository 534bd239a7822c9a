"""What a turn did, told as events: kept in SQL in order, and shown live to whoever watches.

An event is never evidence about money: the ledger is. So a journal that cannot be written costs an event,
which is logged and counted, and never a turn.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, Protocol, TypeAlias, cast

import structlog

from refund_agent.ports import Clock

log = structlog.stdlib.get_logger(__name__)

EventKind: TypeAlias = Literal[
    "queued",
    "begun",
    "thinking",
    "step",
    "tool_call",
    "tool_result",
    "policy",
    "decision",
    "claim",
    "settle",
    "flag",
    "correction",
    "usage",
    "hand_off",
]
"""`ended` is not among them: the end of a turn is read from its row, whoever ended it."""

MAX_BODY_CHARACTERS: Final = 8000
MAX_BODY_DEPTH: Final = 6
MAX_ENTRIES: Final = 50
_SHORTER: Final = (4000, 1000, 200)
_TEXT_OF_NOTHING: Final[Mapping[str, object]] = {"cut": True}


@dataclass(frozen=True, slots=True)
class Event:
    """One stored event. `seq` counts from 1 in its turn, without gaps; `at_ms` is database time."""

    turn_id: str
    seq: int
    kind: EventKind
    body: Mapping[str, object]
    at_ms: int


class Journal(Protocol):
    """Where everybody who does something in a turn says so."""

    def note(self, turn_id: str, kind: EventKind, body: Mapping[str, object]) -> None:
        """Record one event; never raises. A `body` of more than 8,000 characters is cut."""
        ...


class StoredEvents(Protocol):
    """The events table."""

    def append(self, turn_id: str, kind: EventKind, body: Mapping[str, object]) -> Event | None:
        """Store an event under its turn's next number; None when the turn has too many.

        Raises `StoreUnavailable`.
        """
        ...

    def after(self, turn_id: str, seq: int) -> list[Event]:
        """Return the turn's next events after `seq`, in order, at most a page; raise `StoreUnavailable`."""
        ...

    def newest(self, turn_ids: Collection[str]) -> dict[str, int]:
        """Return the last number of each of the turns that has events; raise `StoreUnavailable`."""
        ...


class LiveUnavailable(Exception):
    """Nothing can be heard now; the message names the driver's exception class."""


class LiveEvents(Protocol):
    """The same events on their way to whoever watches. Losing one loses nothing: it is in the table."""

    def publish(self, event: Event) -> None:
        """Show an event; never raises, and is quick even when nobody can be shown anything."""
        ...

    def read(self, after: Mapping[str, str], *, seconds: float) -> list[tuple[str, Event]]:
        """Return what was published on each turn after a position, with the new position of each event.

        Waits at most `seconds` for the first; raises `LiveUnavailable`. `START` is the first position.
        """
        ...

    def disconnect(self) -> None:
        """Give the connection back until the next `read`."""
        ...

    def count_lost(self) -> None:
        """Count one event that could not be stored; never raises."""
        ...


START: Final = "0-0"
"""The position before everything that was published on a turn."""


class Pause:
    """Keeps a caller from a place that has just failed: waiting for it happens once and not each time."""

    def __init__(self, clock: Clock, *, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._until = 0.0

    @property
    def is_on(self) -> bool:
        """Whether the place should be left alone now."""
        return self._clock.monotonic() < self._until

    def begin(self) -> None:
        """Leave the place alone from now on, for a while."""
        self._until = self._clock.monotonic() + self._seconds


class TurnJournal:
    """Implements the port `Journal`: SQL first, then whoever watches."""

    SECONDS_OF_PAUSE: Final = 2.0

    def __init__(self, *, stored: StoredEvents, live: LiveEvents, clock: Clock) -> None:
        self._stored = stored
        self._live = live
        self._pause = Pause(clock, seconds=self.SECONDS_OF_PAUSE)

    def note(self, turn_id: str, kind: EventKind, body: Mapping[str, object]) -> None:
        """Store and show one event; what cannot be stored is logged and counted, and the turn goes on."""
        if self._pause.is_on:
            self._lose(turn_id, kind, "the database failed a moment ago")
            return
        try:
            event = self._stored.append(turn_id, kind, clean_body(body))
        except Exception as error:  # noqa: BLE001 - whatever it is, the turn is worth more than its event
            self._pause.begin()
            self._lose(turn_id, kind, type(error).__name__)
            return
        if event is None:
            self._lose(turn_id, kind, "the turn has too many events")
            return
        self._live.publish(event)

    def _lose(self, turn_id: str, kind: EventKind, reason: str) -> None:
        log.warning("event_lost", turn_id=turn_id, kind=kind, reason=reason)
        self._live.count_lost()


def clean_body(body: Mapping[str, object]) -> dict[str, object]:
    """Return the body as JSON can say it: no NUL, no lone surrogate, at most `MAX_BODY_CHARACTERS` in all.

    What is too long is cut, its texts first, and the body then says `"cut": true`.
    """
    whole = cast("dict[str, object]", _cleaned(body, MAX_BODY_CHARACTERS, MAX_BODY_DEPTH))
    if _size(whole) <= MAX_BODY_CHARACTERS:
        return whole
    for longest in _SHORTER:
        shorter = {**cast("dict[str, object]", _cleaned(body, longest, MAX_BODY_DEPTH)), **_TEXT_OF_NOTHING}
        if _size(shorter) <= MAX_BODY_CHARACTERS:
            return shorter
    return dict(_TEXT_OF_NOTHING)


def _cleaned(value: object, longest: int, depth: int) -> object:
    """Copy a value as JSON has it; texts are cut to `longest`, and what JSON has no word for becomes text."""
    if value is None or isinstance(value, bool | int):
        return value
    if depth > 0 and isinstance(value, Mapping):
        entries = islice(cast("Mapping[object, object]", value).items(), MAX_ENTRIES)
        return {_text(key, 100): _cleaned(entry, longest, depth - 1) for key, entry in entries}
    if depth > 0 and isinstance(value, list | tuple | set | frozenset):
        listed = islice(cast("Collection[object]", value), MAX_ENTRIES)
        return [_cleaned(entry, longest, depth - 1) for entry in listed]
    return _text(value, longest)


def _text(value: object, longest: int) -> str:
    text = value if isinstance(value, str) else str(value)
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return cut.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _size(value: object) -> int:
    """Count the characters that matter for the limit; the punctuation of JSON is counted roughly."""
    if isinstance(value, dict):
        return sum(len(key) + 6 + _size(entry) for key, entry in cast("dict[str, object]", value).items())
    if isinstance(value, list):
        return sum(2 + _size(entry) for entry in cast("list[object]", value))
    return len(str(value))
