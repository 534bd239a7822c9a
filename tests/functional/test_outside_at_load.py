"""The provider or payments is slow or away while many ask: who came in vain costs nobody else anything."""

import pytest

from sandbox.model import hangs
from tests.functional.plays import echo
from tests.functional.stand import Stand, ask_until_taken, problem, turn_id

MANY = 40
"""More than the worker runs at once."""


@pytest.mark.fault(124)
def test_after_an_outage_of_the_provider_only_new_turns_ask_it(quick_stand: Stand) -> None:
    """The queue does not outlive its deadlines: there is no stampede once the provider is back.

    Refund chat has no limit at the door: who came in waits for the deadline at most. A 503 here is a busy
    database's, and that one comes again.
    """
    quick_stand.model.will(*[hangs()] * (2 * MANY))
    message = "refund 5.00 for order A1"
    soon = [quick_stand.pool.submit(ask_until_taken, quick_stand, message) for _ in range(MANY)]
    answers = [future.result() for future in soon]
    for turn in quick_stand.turns():
        if turn["epoch"]:  # a worker has it; the message of one that nobody took has run out
            quick_stand.wait_for_task(turn["id"])
    asked_in_vain = quick_stand.model.request_count
    quick_stand.model.reset()
    quick_stand.model.will(echo)

    after = quick_stand.chat("Are you back?")

    told = [problem(answer, 504) for answer in answers]
    assert {document["type"].rpartition(":")[2] for document in told} <= {
        "provider-timed-out",
        "deadline-passed",
    }
    assert [document["refund"] for document in told] == [None] * MANY
    assert {turn["state"] for turn in quick_stand.turns() if turn["id"] != turn_id(after)} == {"ended"}
    assert asked_in_vain <= 2 * MANY
    assert after.json() == {"reply": "Are you back?"}
    assert quick_stand.model.request_count == 1
    assert quick_stand.payments.request_count == 0


@pytest.mark.fault(244)
def test_slow_payments_make_many_wait_and_nobody_unsure(stand: Stand) -> None:
    """Each send has its whole time, however many others wait for theirs: no deadline of ours cuts one.

    Refund chat refuses nobody for want of room; a 503 here is a busy database's, and that one comes again.
    """
    orders = [f"A{number}" for number in range(MANY)]
    stand.payments.delay_seconds = 0.8

    soon = [stand.pool.submit(ask_until_taken, stand, f"refund 5.00 for order {order}") for order in orders]
    answers = [future.result() for future in soon]

    assert [answer.status_code for answer in answers] == [200] * MANY
    assert sorted(stand.payments.moved) == [(order, 500) for order in sorted(orders)]
    gates = [stand.gate(turn_id(answer)) for answer in answers]
    assert [gate["state"] if gate else None for gate in gates] == ["paid"] * MANY
