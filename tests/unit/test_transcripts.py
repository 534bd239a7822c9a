"""A conversation's history: every tool call keeps its answer, and what is too long goes oldest first."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refund_agent.outcomes import BudgetExhausted, GateState, RefundRecord, Replied
from refund_agent.transcripts import (
    ATTEMPTED,
    NO_REPLY,
    NOT_RUN,
    TRIMMED,
    finished,
    join,
    words_of_a_person,
    words_of_the_customer,
)
from refund_agent.turn import AssistantMessage, Message, ToolCall, ToolResult, UserMessage
from tests.whole_calls import assert_every_call_is_answered

WHOLE = 10**9


def call(call_id: str = "c1") -> ToolCall:
    return ToolCall(call_id, "get_order", '{"order_id": "A1"}')


def turn_of(body: str, *, said: str = "Where is A1?", reply: str = "It is here.") -> list[Message]:
    """A whole turn with one tool call whose answer is `body`."""
    return finished(
        [UserMessage(said), AssistantMessage("", (call(),)), ToolResult("c1", body)], Replied(reply)
    )


@st.composite
def stored_turns(draw: st.DrawFn) -> list[Message]:
    """What a checkpoint may hold: any steps, of which a crash may have left the last calls unanswered."""
    messages: list[Message] = [UserMessage(draw(st.text(min_size=1, max_size=30)))]
    steps = draw(st.lists(st.integers(1, 3), max_size=4))
    for number, how_many in enumerate(steps):
        asked = tuple(call(f"call-{number}-{n}") for n in range(how_many))
        messages.append(AssistantMessage(draw(st.text(max_size=10)), asked))
        is_last = number == len(steps) - 1
        answered = draw(st.integers(0, how_many)) if is_last else how_many
        messages += [ToolResult(one.id, draw(st.text(max_size=60))) for one in asked[:answered]]
    return messages


@pytest.mark.fault(250)
@pytest.mark.parametrize(
    ("state", "told"), [("unknown", ATTEMPTED), ("paid", ATTEMPTED), ("closed", NOT_RUN)]
)
def test_an_attempted_refund_whose_turn_died_is_never_said_to_have_not_run(
    state: GateState, told: str
) -> None:
    died: list[Message] = [UserMessage("Refund A1"), AssistantMessage("", (call(),))]

    whole = finished(died, BudgetExhausted(), RefundRecord("turn-1", state, "A1", 500))

    assert ToolResult("c1", told) in whole


endings = st.one_of(st.builds(Replied, st.text(max_size=20)), st.just(BudgetExhausted()))
whole_turns = st.builds(finished, stored_turns(), endings)


@given(stored_turns(), endings)
def test_of_an_ended_turn_every_call_is_answered_and_the_last_word_is_the_reply(
    messages: list[Message], ending: Replied | BudgetExhausted
) -> None:
    whole = finished(messages, ending)
    assert_every_call_is_answered(whole)
    assert whole[-1] == AssistantMessage(ending.text if isinstance(ending, Replied) else NO_REPLY)
    assert [m for m in whole[:-1] if m in messages] == messages


@given(st.lists(whole_turns, max_size=6), st.integers(0, 600))
def test_no_history_has_a_call_without_answer_or_an_answer_without_call(
    turns: list[list[Message]], limit: int
) -> None:
    assert_every_call_is_answered(join(turns, limit=limit))


@given(st.lists(whole_turns, max_size=6), st.integers(0, 600))
def test_what_is_kept_are_the_newest_turns_as_wholes(turns: list[list[Message]], limit: int) -> None:
    """But for trimmed tool bodies, the history is the end of the conversation, cut between two turns."""
    before = [list(turn) for turn in turns]
    kept = [without_bodies(m) for m in join(turns, limit=limit)]
    ends = [[without_bodies(m) for turn in turns[start:] for m in turn] for start in range(len(turns) + 1)]
    assert kept in ends
    assert turns == before, "the turns that were given are not changed"


@given(st.lists(whole_turns, max_size=6), st.integers(0, 600))
def test_a_history_is_never_longer_than_its_cap(turns: list[list[Message]], limit: int) -> None:
    said = sum(
        len(m.content)
        + sum(
            len(one.name) + len(one.arguments)
            for one in (m.tool_calls if isinstance(m, AssistantMessage) else ())
        )
        for m in join(turns, limit=limit)
    )
    assert said <= limit


@given(st.lists(whole_turns, max_size=6))
def test_what_fits_is_kept_as_it_is(turns: list[list[Message]]) -> None:
    assert join(turns, limit=WHOLE) == [message for turn in turns for message in turn]


def without_bodies(message: Message) -> Message:
    return replace(message, content="") if isinstance(message, ToolResult) else message


def test_the_oldest_tool_bodies_are_trimmed_before_any_word_goes() -> None:
    turns = [turn_of("x" * 1000), turn_of("y" * 1000), turn_of("z" * 1000)]
    bodies = [m.content for m in join(turns, limit=2400) if isinstance(m, ToolResult)]
    assert bodies == [TRIMMED, "y" * 1000, "z" * 1000]
    assert [m for m in join(turns, limit=2400) if isinstance(m, UserMessage)] == [
        UserMessage("Where is A1?")
    ] * 3


@pytest.mark.fault(279)
def test_a_turn_that_does_not_fit_goes_as_a_whole_and_the_newest_stay() -> None:
    turns = [turn_of("x", said="a" * 900), turn_of("x", said="b" * 900), turn_of("x", said="c" * 100)]
    said = [m.content[0] for m in join(turns, limit=1300) if isinstance(m, UserMessage)]
    assert said == ["b", "c"]


def test_a_message_longer_than_the_cap_leaves_no_history() -> None:
    assert join([turn_of("x", said="a" * 500)], limit=100) == []


def test_a_call_that_a_crash_left_open_is_answered_where_it_belongs() -> None:
    asked = AssistantMessage("", (call("c1"), call("c2")))
    whole = finished([UserMessage("?"), asked, ToolResult("c1", "{}")], BudgetExhausted())
    assert whole[2:] == [ToolResult("c1", "{}"), ToolResult("c2", NOT_RUN), AssistantMessage(NO_REPLY)]


def test_words_between_turns_keep_their_speaker() -> None:
    assert words_of_the_customer("Hello?") == UserMessage("Hello?")
    person = words_of_a_person("We are looking.")
    assert isinstance(person, AssistantMessage)
    assert person.content.endswith("We are looking.")
