"""A turn's state: which calls are still unanswered, and a transcript that survives its checkpoint."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refund_agent.outcomes import CallPosition
from refund_agent.turn import (
    MAX_ATTEMPTS,
    MAX_COMPLETIONS,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolResult,
    Turn,
    UserMessage,
    decode_messages,
    encode_messages,
)
from tests.fakes import refund_call

contract = pytest.mark.contract

texts = st.text(st.characters(exclude_categories=["Cs"]))
tool_calls = st.builds(ToolCall, texts, texts, texts, texts)
messages = st.lists(
    st.builds(SystemMessage, texts)
    | st.builds(UserMessage, texts)
    | st.builds(ToolResult, texts, texts)
    | st.builds(AssistantMessage, texts, st.lists(tool_calls, max_size=3).map(tuple)),
    max_size=6,
)


def turn_of(*transcript: Message, **state: Any) -> Turn:
    return Turn("turn-1", epoch=1, deadline=0.0, messages=list(transcript), **state)


# --- The transcript -------------------------------------------------------------------------------


@given(messages)
@contract("C50")
def test_a_transcript_is_read_back_as_it_was_written(transcript: list[Message]) -> None:
    text = encode_messages(transcript)

    assert decode_messages(text) == transcript
    assert decode_messages(text.encode().decode()) == transcript


def test_a_transcript_is_one_line_of_json_however_the_customer_writes() -> None:
    text = encode_messages([UserMessage('line\nbreak "quoted" 👩‍👩‍👧 \u2028')])

    assert "\n" not in text
    assert json.loads(text)[0]["content"] == 'line\nbreak "quoted" 👩‍👩‍👧 \u2028'


@pytest.mark.parametrize("entry", [{}, {"role": "robot", "content": ""}, {"role": "user", "content": 1}])
def test_a_stored_message_of_an_unknown_shape_is_not_guessed_at(entry: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="unknown shape"):
        decode_messages(json.dumps([entry]))


# --- Pending calls --------------------------------------------------------------------------------

FIRST, SECOND, THIRD = (refund_call("A1", 500, call_id=f"call-{i}") for i in (1, 2, 3))
ASKED = UserMessage("refund A1")


@pytest.mark.parametrize(
    "transcript",
    [
        [],
        [ASKED],
        [SystemMessage("instructions"), ASKED],
        [ASKED, AssistantMessage("hello")],
        [ASKED, AssistantMessage("", (FIRST,)), ToolResult("call-1", "{}")],
        [ASKED, AssistantMessage("", (FIRST,)), ToolResult("call-1", "{}"), AssistantMessage("done")],
    ],
)
def test_nothing_is_pending_when_no_call_lacks_its_result(transcript: list[Message]) -> None:
    assert turn_of(*transcript).pending_calls() == []


def test_calls_without_a_result_are_pending_in_order() -> None:
    turn = turn_of(ASKED, AssistantMessage("", (FIRST, SECOND, THIRD)), ToolResult("call-1", "{}"))

    assert turn.pending_calls() == [(CallPosition(1, 1), SECOND), (CallPosition(1, 2), THIRD)]


def test_a_position_counts_completions_and_not_call_ids() -> None:
    """A model may use one id again and again; the position tells its calls apart all the same."""
    turn = turn_of(
        ASKED,
        AssistantMessage("", (FIRST, FIRST)),
        ToolResult("call-1", "{}"),
        ToolResult("call-1", "{}"),
        AssistantMessage("", (FIRST, FIRST)),
        ToolResult("call-1", "{}"),
    )

    assert turn.pending_calls() == [(CallPosition(2, 1), FIRST)]
    assert str(CallPosition(2, 1)) == "2.1"


@given(st.integers(1, 5), st.integers(0, 5), st.integers(0, 3))
def test_however_far_a_crash_let_it_come_the_rest_is_pending(asked: int, answered: int, rounds: int) -> None:
    calls = tuple(refund_call("A1", 500, call_id=f"call-{i}") for i in range(asked))
    done = [ToolResult(call.id, "{}") for call in calls]
    before: list[Message] = [AssistantMessage("", calls), *done] * rounds
    turn = turn_of(ASKED, *before, AssistantMessage("", calls), *done[:answered])

    positions = [CallPosition(rounds + 1, i) for i in range(answered, asked)]
    assert turn.pending_calls() == list(zip(positions, calls[answered:], strict=True))


# --- The budget -----------------------------------------------------------------------------------


@contract("C56", "C48")
def test_the_budget_is_five_completions_and_two_attempts() -> None:
    assert (MAX_COMPLETIONS, MAX_ATTEMPTS) == (5, 2)
    assert not turn_of(completions_used=4).budget_is_used_up
    assert turn_of(completions_used=5).budget_is_used_up


@contract("C39")
def test_a_new_turn_has_attempted_no_refund() -> None:
    turn = turn_of()

    assert (turn.refund_attempted, turn.refund, turn.completions_used, turn.attempts) == (False, None, 0, 1)
