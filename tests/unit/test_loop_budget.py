"""The contract's sections on time-outs and on the budget, sentence by sentence."""

import pytest

from refund_agent.outcomes import BudgetExhausted, DeadlinePassed, NotSent, ProviderTimedOut, Replied, Unknown
from refund_agent.ports import Completed, CompletionTimedOut
from refund_agent.turn import ToolCall, ToolResult
from tests.fakes import calls, calls_refund, says, times_out
from tests.unit.desk import Desk

fault = pytest.mark.fault
contract = pytest.mark.contract

INVALID = ToolCall("call-i", "issue_refund", '{"order_id": "A1", "amount_cents": -5}')


# --- Time-outs ------------------------------------------------------------------------------------


@contract("C47", "C49")
@fault(107)
def test_a_completion_that_timed_out_is_retried_once_after_2_seconds(desk: Desk) -> None:
    assert desk.run(times_out, says("done")) == Replied("done")

    assert desk.clock.slept == [2.0]
    assert (desk.turn.attempts, desk.turn.completions_used) == (2, 2)


@contract("C50", "C51", "C42")
@fault(107, 110)
def test_the_retry_keeps_all_messages_the_executed_refund_included(desk: Desk) -> None:
    assert desk.run(calls_refund("A1", 500), times_out, says("done")) == Replied("done")

    first, timed_out, retried = (asked.messages for asked in desk.model.asked)
    assert retried == timed_out
    assert timed_out[: len(first)] == first
    assistant, result = timed_out[len(first) :]
    assert assistant == calls_refund("A1", 500).message
    assert isinstance(result, ToolResult)
    assert "refund_id" in result.content
    assert desk.payments.requests == [("A1", 500)]


@contract("C52", "C48")
@fault(108)
def test_when_both_attempts_timed_out_the_turn_has_timed_out(desk: Desk) -> None:
    assert desk.run(times_out, times_out) == ProviderTimedOut()
    assert desk.clock.slept == [2.0]


@contract("C48")
def test_the_retry_is_per_turn_and_not_per_completion(desk: Desk) -> None:
    assert desk.run(times_out, calls(INVALID), times_out) == ProviderTimedOut()
    assert len(desk.model.asked) == 3


@pytest.mark.parametrize("ending", [None, NotSent("refused"), Unknown("ReadTimeout")], ids=str)
@fault(108)
def test_a_refund_stays_recorded_when_the_turn_times_out_after_it(desk: Desk, ending: NotSent | None) -> None:
    if ending:
        desk.payments.ends(ending)

    assert desk.run(calls_refund("A1", 500), times_out, times_out) == ProviderTimedOut()

    assert desk.payments.requests == [("A1", 500)]
    assert desk.turn.refund_attempted
    assert desk.turn.refund == desk.database.refunds["turn-1"]


@contract("C53", "C54")
@fault(109)
def test_a_timeout_of_the_fifth_completion_is_budget_exhaustion_without_backoff(desk: Desk) -> None:
    assert desk.run(*[calls(INVALID)] * 4, times_out) == BudgetExhausted()
    assert desk.clock.slept == []


@contract("C55", "C54")
@fault(109)
def test_also_when_it_is_the_second_timeout(desk: Desk) -> None:
    assert desk.run(times_out, *[calls(INVALID)] * 3, times_out) == BudgetExhausted()
    assert desk.clock.slept == [2.0]


@contract("C47")
def test_a_timeout_of_the_fourth_completion_is_retried_with_the_last_of_the_budget(desk: Desk) -> None:
    assert desk.run(*[calls(INVALID)] * 3, times_out, says("done")) == Replied("done")
    assert desk.turn.completions_used == 5


def test_there_is_no_backoff_that_the_deadline_would_cut(desk: Desk) -> None:
    turn = desk.begin()

    def times_out_late() -> CompletionTimedOut:
        desk.clock.now = turn.deadline - 2.0
        return times_out()

    assert desk.run(times_out_late, turn=turn) == DeadlinePassed()
    assert desk.clock.slept == []


@contract("C48")
def test_the_second_attempt_is_on_record_before_the_backoff(desk: Desk) -> None:
    """Else a worker that dies in the backoff would give its turn a third attempt."""
    kept: list[int] = []
    desk.clock.before = lambda: kept.append(desk.database.turns["turn-1"].attempts)

    desk.run(times_out, says("done"))

    assert kept == [2]


# --- Budget ---------------------------------------------------------------------------------------


@contract("C56", "C60", "C61")
@fault(160)
def test_calls_of_the_fifth_completion_are_not_executed_and_the_budget_is_exhausted(desk: Desk) -> None:
    assert desk.run(*[calls(INVALID)] * 4, calls_refund("A1", 500)) == BudgetExhausted()

    assert desk.payments.requests == []
    assert not desk.turn.refund_attempted
    assert len(desk.results()) == 4


def test_text_in_the_fifth_completion_is_the_reply(desk: Desk) -> None:
    assert desk.run(*[calls(INVALID)] * 4, says("done")) == Replied("done")


@contract("C57", "C58")
@fault(125)
def test_completions_are_counted_across_attempts_timed_out_ones_included(desk: Desk) -> None:
    assert desk.run(calls(INVALID), times_out, *[calls(INVALID)] * 3) == BudgetExhausted()
    assert len(desk.model.asked) == 5


@contract("C31", "C33")
@fault(162)
def test_a_model_that_repeats_a_refused_call_runs_out_of_budget(desk: Desk) -> None:
    assert desk.run(*[calls_refund("A1", 500)] * 5) == BudgetExhausted()
    assert desk.payments.moved == [("A1", 500)]


@fault(123)
def test_the_longest_honest_turn_takes_112_seconds(desk: Desk) -> None:
    def after_20_seconds(answer: Completed | CompletionTimedOut) -> Completed | CompletionTimedOut:
        desk.clock.now += 20.0
        return answer

    def takes_10_seconds() -> None:
        desk.clock.now += 10.0

    desk.payments.before = takes_10_seconds
    started = desk.clock.now
    script = [times_out(), calls_refund("A1", 500), calls(INVALID), calls(INVALID), says("done")]

    assert desk.run(*[lambda answer=a: after_20_seconds(answer) for a in script]) == Replied("done")
    assert desk.clock.now - started == 112.0


@contract("C56", "C59")
def test_a_turn_whose_worker_died_in_the_fifth_completion_gets_no_sixth(desk: Desk) -> None:
    turn = desk.begin()
    turn.completions_used = 5
    turn.messages.append(calls_refund("A1", 500).message)

    assert desk.run(turn=turn) == BudgetExhausted()
    assert desk.model.asked == []
    assert desk.payments.requests == []
