"""When the facade gives up, the gate says what became of the money, and no more is spent."""

import threading

import pytest
import requests

from sandbox.model import call, calls, calls_refund, hangs, says
from tests.functional.plays import slowly, watched
from tests.functional.stand import PATIENCE_SECONDS, Stand, problem, turn_id

ASKS_FOR_NOTHING = calls(call("nothing", "{}"))
SLOWLY = slowly(ASKS_FOR_NOTHING, 0.5)
"""Not too slow by itself; three and a time-out outlast the deadline of 2.2 s."""

MAX_TRIES = 5
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
    tries = (sleep_through_the_deadline(short_stand) for _ in range(MAX_TRIES))
    answer = next((slept for slept in tries if slept is not None), None)
    assert answer is not None, "the worker could never be stopped in time"

    document = problem(answer, 504)
    assert (document["type"], document["refund"]) == (KIND, None)
    short_stand.wait_for_task(turn_id(answer), "Superseded")
    row, turn = short_stand.gate(turn_id(answer)), short_stand.turn(turn_id(answer))
    assert row is not None
    assert turn is not None
    assert row["state"] == "closed"
    assert (turn["outcome"], turn["refund_attempted"]) == ("deadline_passed", False)
    assert (short_stand.payments.request_count, short_stand.model.request_count) == (0, 1)


def sleep_through_the_deadline(stand: Stand) -> requests.Response | None:
    """Stop the worker while its first completion is made; None: it had gone on before the stop reached it.

    It waits 0.6 s for a completion. A busy machine may take longer to stop it, which shows before it wakes.
    """
    asleep = threading.Event()

    def fall_asleep() -> None:
        stand.stop_worker()
        asleep.set()

    stand.forget()
    stand.model.will(watched(fall_asleep, calls_refund("A1", 500)), says("Never asked for."))
    try:
        answer = stand.chat("refund 5.00 for order A1")
        assert asleep.wait(PATIENCE_SECONDS)
        slept = stand.model.request_count == 1 and not stand.has_ended(turn_id(answer))
    finally:
        stand.let_worker_go_on()
    stand.wait_for_task(turn_id(answer))
    return answer if slept else None


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
