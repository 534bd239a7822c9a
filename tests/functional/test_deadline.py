"""When the facade gives up, the gate says what became of the money, and no more is spent."""

import pytest

from sandbox.model import call, calls, calls_refund, hangs, says
from tests.functional.plays import slowly, watched
from tests.functional.stand import Stand, problem, turn_id

ASKS_FOR_NOTHING = calls(call("nothing", "{}"))
SLOWLY = slowly(ASKS_FOR_NOTHING, 0.5)
"""Not too slow by itself; three and a time-out outlast the deadline of 2.2 s."""

KIND = "urn:refund-agent:problem:deadline-passed"


@pytest.mark.contract("C71", "C76")
def test_a_passed_deadline_is_504_and_the_turn_buys_no_further_completion(short_stand: Stand) -> None:
    short_stand.model.will(SLOWLY, SLOWLY, SLOWLY, hangs(), calls_refund("A1", 500), says("Never asked for."))

    answer = short_stand.chat("refund 5.00 for order A1")

    document = problem(answer, 504)
    assert (document["type"], document["refund"]) == (KIND, None)
    bought = short_stand.model.request_count
    short_stand.wait_for_task(turn_id(answer))
    assert short_stand.model.request_count == bought <= 4
    assert short_stand.payments.request_count == 0


@pytest.mark.contract("C36", "C71", "C76")
@pytest.mark.fault(36)
def test_a_worker_that_wakes_after_the_deadline_finds_the_gate_closed(short_stand: Stand) -> None:
    """The model asks for a refund; the worker sleeps through the deadline before it can read that."""
    short_stand.model.will(
        watched(short_stand.stop_worker, calls_refund("A1", 500)), says("Never asked for.")
    )
    try:
        answer = short_stand.chat("refund 5.00 for order A1")
    finally:
        short_stand.let_worker_go_on()

    document = problem(answer, 504)
    assert (document["type"], document["refund"]) == (KIND, None)
    short_stand.wait_for_task(turn_id(answer), "Superseded")
    row, turn = short_stand.gate(turn_id(answer)), short_stand.turn(turn_id(answer))
    assert row is not None
    assert turn is not None
    assert row["state"] == "closed"
    assert (turn["outcome"], turn["refund_attempted"]) == ("deadline_passed", False)
    assert (short_stand.payments.request_count, short_stand.model.request_count) == (0, 1)


@pytest.mark.contract("C71", "C75")
def test_a_deadline_that_passes_after_the_refund_says_that_it_was_made(short_stand: Stand) -> None:
    short_stand.payments.delay_seconds = 0.4
    short_stand.model.will(calls_refund("A1", 500), SLOWLY, SLOWLY, hangs())

    answer = short_stand.chat("refund 5.00 for order A1")

    document = problem(answer, 504)
    assert document["type"] == KIND
    assert (document["refund"]["state"], document["refund"]["order_id"]) == ("paid", "A1")
    assert short_stand.payments.moved == [("A1", 500)]


@pytest.mark.contract("C71", "C75")
def test_a_deadline_that_passes_while_payments_is_asked_says_unknown(short_stand: Stand) -> None:
    """The worker sleeps through the deadline with the request on the wire."""
    short_stand.payments.will("accept-then-hang")
    soon = short_stand.chat_soon("refund 5.00 for order A1")
    assert short_stand.payments.wait_for_requests(1)
    short_stand.stop_worker()
    try:
        answer = soon.result()
    finally:
        short_stand.let_worker_go_on()

    document = problem(answer, 504)
    assert (document["refund"]["state"], document["refund"]["order_id"]) == ("unknown", "A1")
    short_stand.wait_for_task(turn_id(answer))
    row = short_stand.gate(turn_id(answer))
    assert row is not None
    assert row["state"] == "unknown"
    assert (short_stand.payments.request_count, short_stand.payments.moved) == (1, [("A1", 500)])


@pytest.mark.contract("C71")
def test_a_refund_that_no_longer_fits_before_the_deadline_is_not_sent(short_stand: Stand) -> None:
    short_stand.model.will(SLOWLY, calls_refund("A1", 500))

    answer = short_stand.chat("refund 5.00 for order A1")

    assert answer.status_code == 200
    assert short_stand.payments.request_count == 0
    assert short_stand.gate(turn_id(answer)) is None
