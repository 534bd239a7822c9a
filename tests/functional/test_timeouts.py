"""A completion that timed out is tried once more, where the turn stood, if the budget allows."""

import time

import pytest

from sandbox.model import calls_refund, hangs, says
from tests.functional.conftest import QUICK
from tests.functional.plays import tool_results, watched
from tests.functional.stand import Stand, problem, turn_id

TIMEOUT_SECONDS = float(QUICK["COMPLETION_TIMEOUT_SECONDS"])
BACKOFF_SECONDS = float(QUICK["BACKOFF_SECONDS"])


@pytest.mark.contract("C47", "C49", "C58")
@pytest.mark.fault(107)
def test_a_completion_that_timed_out_is_tried_again_once_after_the_backoff(quick_stand: Stand) -> None:
    quick_stand.model.will("timeout", says("Here I am."))
    started = time.monotonic()

    answer = quick_stand.chat("hello")

    assert answer.json() == {"reply": "Here I am."}
    assert time.monotonic() - started >= TIMEOUT_SECONDS + BACKOFF_SECONDS
    assert quick_stand.model.request_count == 2
    turn = quick_stand.turn(turn_id(answer))
    assert turn is not None
    assert (turn["attempts"], turn["completions_used"]) == (2, 2)


@pytest.mark.contract("C42", "C50", "C51")
@pytest.mark.fault(110)
def test_the_retry_resumes_with_the_whole_history_and_refunds_nothing_again(quick_stand: Stand) -> None:
    quick_stand.model.will(calls_refund("A1", 500, id="call_1"), "timeout", says("Refunded."))

    answer = quick_stand.chat("refund 5.00 for order A1")

    assert answer.json() == {"reply": "Refunded."}
    assert (quick_stand.payments.request_count, quick_stand.payments.moved) == (1, [("A1", 500)])
    first, timed_out, retry = (asked.body["messages"] for asked in quick_stand.model.requests)
    assert retry == timed_out
    assert retry[: len(first)] == first
    assert [message["role"] for message in retry] == ["system", "user", "assistant", "tool"]
    assert retry[2]["tool_calls"][0]["id"] == "call_1"
    ((call_id, receipt),) = tool_results(quick_stand.model.requests[2])
    row = quick_stand.gate(turn_id(answer))
    assert row is not None
    assert (call_id, receipt["refund_id"]) == ("call_1", row["refund_id"])


@pytest.mark.contract("C42", "C46", "C31")
@pytest.mark.fault(110)
def test_a_refund_asked_for_again_after_the_retry_is_refused(quick_stand: Stand) -> None:
    quick_stand.payments.will("accept-then-drop")
    quick_stand.model.will(calls_refund("A1", 500), "timeout", calls_refund("A1", 500), says("Done."))

    answer = quick_stand.chat("refund 5.00 for order A1")

    assert answer.json() == {"reply": "Done."}
    assert (quick_stand.payments.request_count, quick_stand.payments.moved) == (1, [("A1", 500)])
    assert list(tool_results(quick_stand.model.requests[3])[1][1]) == ["error"]


@pytest.mark.contract("C52", "C76")
@pytest.mark.fault(108)
def test_both_attempts_timed_out_is_504_without_a_refund(quick_stand: Stand) -> None:
    answer = quick_stand.chat("[timeout] hello")

    assert problem(answer, 504)["refund"] is None
    assert quick_stand.model.request_count == 2
    assert quick_stand.payments.request_count == 0
    assert quick_stand.gate(turn_id(answer)) is None


@pytest.mark.contract("C48", "C52", "C57", "C75")
@pytest.mark.fault(108)
def test_the_retry_is_per_turn_and_the_504_says_what_became_of_the_refund(quick_stand: Stand) -> None:
    """The first time-out is before the refund, the second after it: another completion, the same turn."""
    quick_stand.model.will("timeout", calls_refund("A1", 500), "timeout", says("Too late."))

    answer = quick_stand.chat("refund 5.00 for order A1")

    row = quick_stand.gate(turn_id(answer))
    assert row is not None
    assert problem(answer, 504)["refund"] == {
        "state": "paid",
        "order_id": "A1",
        "amount_cents": 500,
        "refund_id": row["refund_id"],
    }
    assert quick_stand.model.request_count == 3
    assert (quick_stand.payments.request_count, quick_stand.payments.moved) == (1, [("A1", 500)])


@pytest.mark.contract("C53", "C54", "C58", "C75")
@pytest.mark.fault(109)
def test_a_timeout_of_the_fifth_completion_is_502_without_a_backoff(quick_stand: Stand) -> None:
    again = [calls_refund("A1", 500)] * 4
    arrived: list[float] = []
    fifth = watched(lambda: arrived.append(time.monotonic()), hangs())
    quick_stand.model.will(*again, fifth, says("Never asked for."))

    answer = quick_stand.chat("refund 5.00 for order A1")

    assert time.monotonic() - arrived[0] < TIMEOUT_SECONDS + BACKOFF_SECONDS
    refund = problem(answer, 502)["refund"]
    assert (refund["state"], refund["order_id"]) == ("paid", "A1")
    assert quick_stand.model.request_count == 5
    assert quick_stand.payments.moved == [("A1", 500)]
    turn = quick_stand.turn(turn_id(answer))
    assert turn is not None
    assert (turn["attempts"], turn["completions_used"]) == (1, 5), "no second attempt was begun"


@pytest.mark.contract("C55", "C57")
@pytest.mark.fault(109)
def test_it_is_502_also_when_it_is_the_second_timeout(quick_stand: Stand) -> None:
    again = [calls_refund("A1", 500)] * 3
    quick_stand.model.will("timeout", *again, "timeout", says("Never asked for."))

    answer = quick_stand.chat("refund 5.00 for order A1")

    assert problem(answer, 502)["refund"]["state"] == "paid"
    assert quick_stand.model.request_count == 5
    assert quick_stand.payments.moved == [("A1", 500)]


@pytest.mark.fault(123)
@pytest.mark.parametrize("script", ["drip-headers", "drip-body"])
def test_a_dripped_completion_is_a_timeout(quick_stand: Stand, script: str) -> None:
    quick_stand.model.will(script, says("Here I am."))

    answer = quick_stand.chat("hello")

    assert answer.json() == {"reply": "Here I am."}
    assert quick_stand.model.request_count == 2
