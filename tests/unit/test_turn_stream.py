"""The stream of one turn over fakes: each event once and in order, whatever is heard, and then the end."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refund_agent.facade import Unreadable
from refund_agent.journal import Event, EventKind
from refund_agent.outcomes import RefundRecord, Replied
from refund_agent.turn import TurnRecord
from tests.fake_events import FakeStoredEvents
from tests.fakes import FakeClock
from web.turn_stream import HEARTBEAT, HEARTBEAT_SECONDS, TurnStream

TURN = "turn-1"
RUNNING = TurnRecord(TURN, "running", 0, 0)
ENDED = TurnRecord(TURN, "ended", 0, 0, outcome=Replied("Done."))


@dataclass
class FakeGlimpse:
    events: Sequence[Event] = ()
    newest: int = 0
    may_have_ended: bool = False


@dataclass
class Stage:
    """What a stream stands on. Each wait runs the next of `acts`; after the last one the turn ends."""

    acts: list[Callable[[], object]] = field(default_factory=list)
    stored: FakeStoredEvents = field(default_factory=FakeStoredEvents)
    clock: FakeClock = field(default_factory=FakeClock)
    turn: TurnRecord | Unreadable | None = RUNNING
    glimpse: FakeGlimpse = field(default_factory=FakeGlimpse)
    closing: bool = False
    is_gone: bool = False
    watched: int = 0

    @contextmanager
    def watch(self, turn_id: str) -> Iterator[Self]:
        self.watched += 1
        try:
            yield self
        finally:
            self.watched -= 1

    def wait(self, seconds: float) -> None:
        self.clock.sleep(seconds)
        if self.acts:
            self.acts.pop(0)()
        else:
            self.end()

    def take(self) -> FakeGlimpse:
        taken, self.glimpse = self.glimpse, FakeGlimpse()
        return taken

    def note(self, kind: EventKind = "step", **body: Any) -> Event:
        event = self.stored.append(TURN, kind, body)
        assert event is not None
        return event

    def hear(self, *events: Event, newest: int = 0) -> None:
        self.glimpse = FakeGlimpse(events, max([newest, *(event.seq for event in events)]))

    def end(self, turn: TurnRecord = ENDED) -> None:
        self.turn = turn
        self.glimpse = FakeGlimpse(may_have_ended=True)

    def stream(self, *, after: int = 0, shows_all: bool = True) -> Iterator[bytes]:
        return TurnStream(
            TURN,
            after=after,
            shows_all=shows_all,
            find=lambda _: self.turn,
            stored=self.stored,
            watching=self,
            clock=self.clock,
            client_is_gone=lambda: self.is_gone,
        ).frames()

    def told(self, **how: Any) -> list[tuple[int, str]]:
        return [(number, name) for number, name, _ in read(b"".join(self.stream(**how)))]


def read(stream: bytes) -> list[tuple[int, str, Any]]:
    """Read a stream as an EventSource does: number, name, body."""
    found = []
    for block in stream.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if line and not line.startswith(":"))
        if "event" in lines:
            found.append((int(lines["id"]), lines["event"], json.loads(lines["data"])))
    return found


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_what_is_stored_is_told_first_and_the_end_last(stage: Stage) -> None:
    stage.note("begun")
    stage.note("usage")
    stage.end()

    assert stage.told() == [(1, "begun"), (2, "usage"), (3, "ended")]
    assert stage.watched == 0


def test_the_end_carries_reply_and_refund_as_the_row_has_them(stage: Stage) -> None:
    refund = RefundRecord(TURN, "paid", "A1", 500, "1.0", "rf-1")
    stage.end(TurnRecord(TURN, "ended", 0, 0, outcome=Replied("Done."), refund=refund))

    ((_, _, body),) = read(b"".join(stage.stream()))
    assert (body["state"], body["reply"]) == ("done", "Done.")
    assert body["refund"] == {"state": "paid", "order_id": "A1", "amount_cents": 500, "refund_id": "rf-1"}


def test_a_turn_that_recorded_nothing_ends_with_one_event(stage: Stage) -> None:
    assert stage.told() == [(1, "ended")]


@pytest.mark.fault(55)
def test_a_stream_goes_on_after_the_last_event_received(stage: Stage) -> None:
    for _ in range(5):
        stage.note()
    stage.end()
    assert stage.told(after=3) == [(4, "step"), (5, "step"), (6, "ended")]


def test_what_is_heard_in_a_row_is_told_without_asking_the_database(stage: Stage) -> None:
    stage.note()
    asked: list[int] = []
    stage.acts = [
        lambda: stage.hear(stage.note(), stage.note()),
        lambda: asked.append(stage.stored.asked),
        lambda: asked.append(stage.stored.asked),
    ]
    assert stage.told() == [(1, "step"), (2, "step"), (3, "step"), (4, "ended")]
    assert asked[0] == asked[1]


@pytest.mark.fault(55)
def test_a_lost_publish_is_filled_from_the_database_when_the_next_one_is_heard(stage: Stage) -> None:
    stage.acts = [stage.note, lambda: stage.hear(stage.note())]
    assert stage.told() == [(1, "step"), (2, "step"), (3, "ended")]


@pytest.mark.fault(55)
def test_a_lost_last_publish_is_found_by_its_number(stage: Stage) -> None:
    told_before_the_end: list[int] = []
    stage.acts = [lambda: stage.hear(newest=stage.note().seq), lambda: None]
    for number, name, _ in map(lambda text: (read(text) or [(0, "", None)])[0], stage.stream()):  # noqa: C417 - lazily
        if name == "step":
            told_before_the_end.append(number)
            assert stage.turn is RUNNING
    assert told_before_the_end == [1]


def test_an_event_heard_twice_or_late_is_told_once(stage: Stage) -> None:
    first, second = stage.note(), stage.note()
    stage.acts = [lambda: stage.hear(first, second), lambda: stage.hear(second)]
    assert stage.told() == [(1, "step"), (2, "step"), (3, "ended")]


def test_while_the_database_is_away_the_stream_stays_and_misses_nothing(stage: Stage) -> None:
    stage.note()
    stage.stored.is_away = True
    stage.acts = [lambda: None, lambda: setattr(stage.stored, "is_away", False)]
    assert stage.told() == [(1, "step"), (2, "ended")]


def test_an_end_that_cannot_be_read_is_read_later(stage: Stage) -> None:
    stage.turn = Unreadable(TURN)
    stage.acts = [lambda: None, stage.end]
    assert stage.told() == [(1, "ended")]


def test_more_events_than_a_page_are_all_told(stage: Stage) -> None:
    stage.stored = FakeStoredEvents(page=3)
    for _ in range(10):
        stage.note()
    stage.end()
    assert [number for number, _ in stage.told()] == list(range(1, 12))


@pytest.mark.fault(55)
def test_a_quiet_stream_has_a_heartbeat_well_within_25_seconds(stage: Stage) -> None:
    stage.acts = [lambda: None] * 30
    silence = longest = 0.0
    before = stage.clock.now
    beats = 0
    for text in stage.stream():
        silence, before = stage.clock.now - before, stage.clock.now
        longest = max(longest, silence)
        beats += text == HEARTBEAT
    assert beats == 3
    assert HEARTBEAT_SECONDS <= longest < 20


@pytest.mark.parametrize("how", ["closing", "is_gone"])
def test_a_stream_ends_without_an_end_when_the_process_stops_or_the_client_went(
    stage: Stage, how: str
) -> None:
    stage.acts = [lambda: setattr(stage, how, True)]
    assert stage.told() == []
    assert stage.watched == 0


def test_a_turn_that_never_ends_does_not_hold_its_thread_for_ever(stage: Stage) -> None:
    stage.acts = [lambda: None] * 10_000
    assert stage.told() == []


def test_a_turn_that_is_forgotten_meanwhile_ends_its_stream(stage: Stage) -> None:
    def forget() -> None:
        stage.turn = None
        stage.hear(newest=1)

    stage.acts = [forget, forget]
    assert stage.told() == []


SECRET: dict[str, object] = {"text": "CANARY", "arguments": "CANARY", "result": "CANARY", "facts": "CANARY"}


@pytest.mark.parametrize("kind", ["step", "policy", "flag", "correction", "usage"])
def test_what_is_for_staff_is_not_shown_to_a_customer(stage: Stage, kind: EventKind) -> None:
    stage.note(kind, **SECRET)
    stage.note("thinking")
    stage.end()
    assert stage.told(shows_all=False) == [(2, "thinking"), (3, "ended")]
    assert (1, kind) in stage.told(shows_all=True)


@pytest.mark.parametrize(
    "kind", ["tool_call", "tool_result", "decision", "claim", "settle", "hand_off", "begun"]
)
def test_a_customer_sees_of_an_event_what_is_meant_for_them(stage: Stage, kind: EventKind) -> None:
    stage.note(kind, tool="issue_refund", order_id="A1", **SECRET)
    stage.end()
    text = b"".join(stage.stream(shows_all=False))
    assert f"event: {kind}".encode() in text
    assert b"CANARY" not in text


def test_nothing_in_a_body_can_end_its_event(stage: Stage) -> None:
    stage.note(text="a\n\nevent: ended\ndata: {}\r\r\u2028\x00")
    stage.end()
    assert stage.told() == [(1, "step"), (2, "ended")]


Act = tuple[str, int]


@given(
    st.lists(st.tuples(st.sampled_from(["show", "lose", "double", "outage"]), st.integers(1, 3))),
    st.integers(0, 4),
)
def test_each_event_is_told_once_and_in_order_whatever_is_heard(acts: list[Act], after: int) -> None:
    stage = Stage()
    earlier = [stage.note() for _ in range(4)]

    def play(act: Act) -> Callable[[], object]:
        name, number = act

        def now() -> None:
            stage.stored.is_away = False
            events = [stage.note() for _ in range(number)]
            heard = {"show": events, "lose": events[1:], "double": [*earlier, *events, *events], "outage": []}
            stage.hear(*heard[name], newest=events[-1].seq if name == "lose" else 0)
            stage.stored.is_away = name == "outage"

        return now

    stage.acts = [*map(play, acts), lambda: setattr(stage.stored, "is_away", False)]
    told = stage.told(after=after)
    newest = len(stage.stored.rows)
    assert told == [*((seq, "step") for seq in range(after + 1, newest + 1)), (newest + 1, "ended")]


def test_a_customer_is_told_that_payments_is_asked_as_soon_as_the_claim_stands(stage: Stage) -> None:
    stage.note("claim", answer="claimed", order_id="A1", amount_cents=1)
    stage.end()
    text = b"".join(stage.stream(shows_all=False))
    assert b'event: claim\ndata: {"answer": "claimed", "at_ms": ' in text
