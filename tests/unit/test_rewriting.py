"""A reply put in other words: counted, bounded, and never more than a rewording."""

from dataclasses import replace

import pytest

from refund_agent.outcomes import Superseded
from refund_agent.ports import CompletionAnswer
from refund_agent.prompts import REPLY_INSTRUCTIONS
from refund_agent.rewriting import Rewriter
from refund_agent.turn import MAX_COMPLETIONS, Turn, UserMessage
from tests.fakes import FakeModel, calls_refund, fails, says, times_out
from tests.unit.desk import Desk

TEXT = "Order A1 was delivered on 2026-11-17 and 49.99 may be refunded."


class Room(Desk):
    """A desk with a rewriter."""

    def rewrite(
        self, *script: CompletionAnswer, text: str = TEXT, turn: Turn | None = None
    ) -> str | Superseded:
        self.model = FakeModel(*script)
        self.turn = turn or self.begin()
        rewriter = Rewriter(
            model=self.model, turns=self.turns, clock=self.clock, completion_timeout_seconds=20.0
        )
        return rewriter.rewrite(self.turn, text)


@pytest.fixture
def room() -> Room:
    return Room()


def test_a_reply_is_put_in_other_words_by_one_completion_more(room: Room) -> None:
    said = replace(says("Good news: of order A1, delivered 2026-11-17, we can refund 49.99."), tokens=70)

    assert room.rewrite(said) == said.message.content
    assert (room.turn.completions_used, room.turn.tokens_used) == (1, 70)
    (asked,) = room.model.asked
    assert asked.messages == (REPLY_INSTRUCTIONS, UserMessage(TEXT))
    assert asked.request_id == "turn-1-1"


def test_the_second_model_is_given_no_internal_name(room: Room) -> None:
    room.rewrite(says("Which order?"), text="Please give issue_refund the order_id.")
    assert room.model.asked[0].messages[1] == UserMessage("Please give the refund the order number.")


def test_it_is_counted_before_it_is_made(room: Room) -> None:
    stored: list[int] = []

    def look() -> CompletionAnswer:
        stored.append(room.database.turns["turn-1"].completions_used)
        return says(TEXT)

    room.model = FakeModel(look)
    turn = room.begin()
    Rewriter(model=room.model, turns=room.turns, clock=room.clock, completion_timeout_seconds=20.0).rewrite(
        turn, TEXT
    )
    assert stored == [1]


@pytest.mark.parametrize(("used", "asked"), [(3, 1), (4, 0), (5, 0)])
def test_the_fifth_completion_is_never_spent_on_words(room: Room, used: int, asked: int) -> None:
    """A turn that must be resumed needs one more to find its reply again."""
    turn = room.begin()
    turn.completions_used = used
    room.rewrite(says("In other words."), turn=turn)
    assert len(room.model.asked) == asked
    assert turn.completions_used == used + asked < MAX_COMPLETIONS or not asked


@pytest.mark.parametrize(
    "answer",
    [
        times_out(),
        fails("HTTP 500"),
        says(""),
        says("   "),
        replace(says("Good news: A1"), truncated=True),
        calls_refund("A1", 4_999),
        says("x" * 2_000),
        says("You get 59.99 for order A1."),
        says("Order A1 was delivered on 2026-11-18."),
    ],
    ids=[
        "timed out",
        "failed",
        "empty",
        "blank",
        "cut",
        "a call",
        "long",
        "another amount",
        "another day",
    ],
)
def test_whatever_is_no_rewording_leaves_the_words_as_they_were(room: Room, answer: CompletionAnswer) -> None:
    assert room.rewrite(answer) == TEXT
    assert len(room.model.asked) == 1, "a rewording is not tried again"
    assert room.turn.attempts == 1
    assert room.payments.requests == []


@pytest.mark.parametrize("text", ["", " \n"])
def test_nothing_is_not_rewritten(room: Room, text: str) -> None:
    assert room.rewrite(text=text) == text
    assert room.model.asked == []


@pytest.mark.parametrize(("left_seconds", "timeout_seconds"), [(120.0, [20.0]), (12.0, [10.0]), (2.5, [])])
def test_it_ends_before_the_turn_must(room: Room, left_seconds: float, timeout_seconds: list[float]) -> None:
    turn = room.begin()
    turn.deadline = room.clock.monotonic() + left_seconds
    room.rewrite(says("In other words."), turn=turn)
    assert [asked.timeout_seconds for asked in room.model.asked] == pytest.approx(timeout_seconds)


def test_a_worker_that_lost_the_turn_asks_nothing(room: Room) -> None:
    turn = room.begin()
    room.database.owner_dies(turn.id)
    assert room.rewrite(says("In other words."), turn=turn) == Superseded()
    assert room.model.asked == []
