"""The journal: SQL first, then whoever watches; what cannot be written never costs a turn."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refund_agent.journal import MAX_BODY_CHARACTERS, TurnJournal, clean_body
from tests.fake_events import FakeLive, FakeStoredEvents
from tests.fakes import FakeClock


class Desk:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.stored = FakeStoredEvents()
        self.live = FakeLive()
        self.journal = TurnJournal(stored=self.stored, live=self.live, clock=self.clock)


@pytest.fixture
def journal_desk() -> Desk:
    return Desk()


def test_an_event_is_shown_as_it_was_stored(journal_desk: Desk) -> None:
    journal_desk.journal.note("t-1", "step", {"text": "hello"})

    assert journal_desk.live.published == journal_desk.stored.rows
    assert journal_desk.stored.rows[0].body == {"text": "hello"}


@pytest.mark.parametrize("way", ["is_away", "is_broken"])
def test_an_event_that_cannot_be_stored_is_counted_and_neither_raised_nor_shown(
    journal_desk: Desk, way: str
) -> None:
    setattr(journal_desk.stored, way, True)

    journal_desk.journal.note("t-1", "step", {})

    assert journal_desk.live.published == []
    assert journal_desk.live.lost == 1


def test_a_database_that_failed_is_left_alone_for_a_while_so_that_turns_wait_once(journal_desk: Desk) -> None:
    journal_desk.stored.is_away = True
    for _ in range(10):
        journal_desk.journal.note("t-1", "step", {})
    assert journal_desk.stored.asked == 1
    assert journal_desk.live.lost == 10

    journal_desk.stored.is_away = False
    journal_desk.clock.sleep(TurnJournal.SECONDS_OF_PAUSE)
    journal_desk.journal.note("t-1", "step", {})
    assert len(journal_desk.stored.rows) == 1


def test_a_turn_with_too_many_events_loses_the_rest(journal_desk: Desk) -> None:
    journal_desk.stored.most = 2
    for _ in range(4):
        journal_desk.journal.note("t-1", "step", {})

    assert [event.seq for event in journal_desk.live.published] == [1, 2]
    assert journal_desk.live.lost == 2


def test_what_no_database_takes_is_replaced() -> None:
    body = {"text": "a\x00b\ud800c", "\ud800": {"deep": ["\x00"]}}
    assert clean_body(body) == {"text": "a\ufffdb?c", "?": {"deep": ["\ufffd"]}}


def test_long_texts_are_cut_first_and_the_body_says_so() -> None:
    cleaned = clean_body({"order_id": "A1", "amount_cents": 500, "text": "x" * 100_000})

    assert (cleaned["order_id"], cleaned["amount_cents"], cleaned["cut"]) == ("A1", 500, True)
    assert str(cleaned["text"]).endswith("x…")


def test_what_stays_too_long_is_left_out() -> None:
    wide = {f"{n}": ["x" * 200] * 50 for n in range(50)}
    assert clean_body({"wide": wide}) == {"cut": True}


_BODIES = st.dictionaries(
    st.text(max_size=20),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary(),
        lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
        max_leaves=20,
    ),
)


@given(_BODIES)
def test_any_body_becomes_json_that_a_database_takes(body: dict[str, object]) -> None:
    text = json.dumps(clean_body(body), ensure_ascii=False)

    assert len(text.encode("utf-8")) <= 8 * MAX_BODY_CHARACTERS
    assert "\\u0000" not in text
    assert json.loads(text) == clean_body(body)
