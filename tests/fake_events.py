"""Fakes of the journal and of the events it keeps, with the promises of the ports' docstrings."""

from collections.abc import Collection, Mapping
from itertools import count

from refund_agent.journal import Event, EventKind, LiveUnavailable
from refund_agent.ports import StoreUnavailable


class FakeJournal:
    """Keeps what was noted, in order: turn, kind, body."""

    def __init__(self) -> None:
        self.noted: list[tuple[str, EventKind, Mapping[str, object]]] = []

    def note(self, turn_id: str, kind: EventKind, body: Mapping[str, object]) -> None:
        self.noted.append((turn_id, kind, body))

    @property
    def kinds(self) -> list[EventKind]:
        return [kind for _, kind, _ in self.noted]

    def bodies(self, kind: EventKind) -> list[Mapping[str, object]]:
        return [body for _, noted, body in self.noted if noted == kind]


class FakeStoredEvents:
    """The events table in memory; `is_away` and `is_broken` make every call fail, `most` fills a turn."""

    def __init__(self, *, page: int = 100) -> None:
        self.rows: list[Event] = []
        self.is_away = False
        self.is_broken = False
        self.most = 500
        self.asked = 0
        self._page = page

    def append(self, turn_id: str, kind: EventKind, body: Mapping[str, object]) -> Event | None:
        self._fail_if_asked_to()
        seq = self.newest([turn_id]).get(turn_id, 0) + 1
        if seq > self.most:
            return None
        event = Event(turn_id, seq, kind, body, 1_000 + seq)
        self.rows.append(event)
        return event

    def after(self, turn_id: str, seq: int) -> list[Event]:
        self._fail_if_asked_to()
        return [event for event in self.rows if event.turn_id == turn_id and event.seq > seq][: self._page]

    def newest(self, turn_ids: Collection[str]) -> dict[str, int]:
        self._fail_if_asked_to()
        return {event.turn_id: event.seq for event in self.rows if event.turn_id in turn_ids}

    def _fail_if_asked_to(self) -> None:
        self.asked += 1
        if self.is_away:
            raise StoreUnavailable("away")
        if self.is_broken:
            raise ValueError("a bug")


class FakeLive:
    """Keeps what was published, and counts what was lost."""

    def __init__(self) -> None:
        self.published: list[Event] = []
        self.lost = 0
        self.is_away = False
        self._positions = count(1)

    def publish(self, event: Event) -> None:
        self.published.append(event)

    def read(self, after: Mapping[str, str], *, seconds: float) -> list[tuple[str, Event]]:
        if self.is_away:
            raise LiveUnavailable("away")
        return []

    def disconnect(self) -> None:
        pass

    def count_lost(self) -> None:
        self.lost += 1
