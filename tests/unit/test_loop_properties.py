"""Whatever the model, the provider and payments do, in whatever order, the promises hold."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from refund_agent.outcomes import (
    BudgetExhausted,
    DeadlinePassed,
    NotSent,
    Paid,
    ProviderFailed,
    ProviderTimedOut,
    Rejected,
    Replied,
    TurnOutcome,
    Unknown,
)
from refund_agent.ports import Completed, CompletionAnswer, CompletionFailed, CompletionTimedOut
from refund_agent.turn import AssistantMessage, Message, ToolCall, ToolResult
from tests.fakes import PaymentEnding, calls, calls_refund, fails, says, times_out
from tests.unit.desk import Desk

contract = pytest.mark.contract

call_ids = st.sampled_from(["call-1", "call-2", ""]) | st.text(max_size=5)
good_arguments = st.builds(
    lambda order_id, cents: json.dumps({"order_id": order_id, "amount_cents": cents}),
    st.sampled_from(["A1", "B2"]),
    st.integers(1, 1000),
)
bad_arguments = st.sampled_from(
    ["", "null", "[]", "{}", '{"order_id": "A1"', '{"order_id": "", "amount_cents": 5}', "[" * 100]
) | st.text(max_size=20)
tool_calls = (
    st.builds(ToolCall, call_ids, st.just("issue_refund"), good_arguments | bad_arguments)
    | st.builds(ToolCall, call_ids, st.text(max_size=8), good_arguments)
    | st.builds(ToolCall, call_ids, st.just("issue_refund"), good_arguments, st.just("not a function call"))
)
asks = st.builds(
    lambda asked, text, truncated: calls(*asked, text=text, truncated=truncated),
    st.lists(tool_calls, min_size=1, max_size=5),
    st.sampled_from(["", "Let me see."]),
    st.sampled_from([False, False, False, True]),
)
model_answers: st.SearchStrategy[CompletionAnswer] = st.one_of(
    asks, asks, asks, st.builds(says, st.text(max_size=10)), st.just(times_out()), st.just(fails("500"))
)
payment_endings: st.SearchStrategy[PaymentEnding] = st.sampled_from(
    [Paid("re-1", "ok", 500), Rejected("no"), NotSent("refused"), Unknown("ReadTimeout"), RuntimeError("bug")]
)


@given(st.lists(model_answers, min_size=5, max_size=5), payment_endings, st.floats(0, 130))
@example([calls_refund("A1", 500)] * 5, Unknown("ReadTimeout"), 120.0)
@example([times_out(), calls_refund("A1", 500), times_out()] + [says("")] * 2, NotSent("refused"), 120.0)
@contract("C2", "C29", "C30", "C31", "C36", "C56")
@pytest.mark.fault(282)
def test_whatever_happens_the_promises_hold(
    script: list[CompletionAnswer], ending: PaymentEnding, seconds_left: float
) -> None:
    desk = Desk()
    desk.payments.ends(ending)
    turn = desk.begin()
    turn.deadline = desk.clock.now + seconds_left
    flags: list[bool] = []
    desk.payments.before = lambda: flags.append(
        turn.refund_attempted and desk.database.refunds["turn-1"].state == "claimed"
    )

    outcome = desk.run(*script, turn=turn)

    if seconds_left > 2.0:  # only the backoff takes time here
        assert outcome == how_it_ends(script)
    else:
        assert outcome in (how_it_ends(script), DeadlinePassed())
    assert len(desk.model.asked) == turn.completions_used <= 5
    assert len(desk.payments.requests) <= 1
    assert flags == [True] * len(desk.payments.requests)
    assert turn.refund_attempted == bool(desk.payments.requests)
    assert sum(desk.clock.slept) <= 2.0
    assert_answered_once_in_order(turn.messages)
    for asked in desk.model.asked:
        assert_answered_once_in_order(asked.messages)


def how_it_ends(script: list[CompletionAnswer]) -> TurnOutcome:
    """The contract's sections on time-outs and budget, read once more and written down plainly."""
    timed_out = 0
    for number, answer in enumerate(script, start=1):
        is_fifth = number == 5
        if isinstance(answer, CompletionFailed):
            return ProviderFailed(answer.reason)
        if isinstance(answer, Completed) and not answer.message.tool_calls:
            return Replied(answer.message.content)
        if is_fifth:
            return BudgetExhausted()
        timed_out += isinstance(answer, CompletionTimedOut)
        if timed_out == 2:
            return ProviderTimedOut()
    raise AssertionError("five answers end every turn")


def assert_answered_once_in_order(transcript: Sequence[Message]) -> None:
    """Every call of every assistant message is followed by its own result, in order, and by no others."""
    waiting: list[str] = []
    for message in transcript:
        if isinstance(message, ToolResult):
            assert waiting.pop(0) == message.call_id
            assert isinstance(json.loads(message.content), dict)
            continue
        assert waiting == []
        if isinstance(message, AssistantMessage):
            waiting = [call.id for call in message.tool_calls]
    assert waiting == []
