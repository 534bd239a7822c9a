"""Claim, send, settle: at most one refund a request, and an honest word about what became of it."""

import json
from typing import Any

import pytest

from refund_agent.outcomes import (
    DeadlinePassed,
    GateState,
    NotSent,
    Paid,
    RefundRecord,
    Rejected,
    Replied,
    Superseded,
    Unknown,
)
from refund_agent.ports import Completed, StoreUnavailable
from refund_agent.reasons import NO_TIME, NOT_CONFIRMED_YET
from refund_agent.turn import ToolCall
from tests.fakes import PaymentEnding, calls, calls_refund, refund_call, says
from tests.unit.desk import Desk

fault = pytest.mark.fault
contract = pytest.mark.contract

FAILURES = [Rejected("no such order"), NotSent("refused"), Unknown("ReadTimeout"), RuntimeError("a bug")]
ANY_ENDING = [Paid("re-1", "succeeded", 500), *FAILURES]


def answers(desk: Desk) -> list[dict[str, Any]]:
    return [json.loads(result.content) for result in desk.results()]


# --- At most one refund per request ---------------------------------------------------------------


@contract("C31", "C32", "C30")
@fault(141)
def test_a_second_issue_refund_in_the_same_message_is_refused(desk: Desk) -> None:
    both = calls(refund_call("A1", 500, call_id="a"), refund_call("A1", 500, call_id="b"))

    assert desk.run(both, says("done")) == Replied("done")

    assert desk.payments.requests == [("A1", 500)]
    assert [result.call_id for result in desk.results()] == ["a", "b"]
    paid, refused = answers(desk)
    assert paid["refund_id"] == "re-1"
    assert "already attempted" in refused["error"]


SECOND_TRIES = [
    pytest.param(calls_refund("A1", 500, call_id="another"), marks=fault(270), id="new-call-id"),
    pytest.param(calls_refund("A1", 500), marks=fault(146), id="same-call-id"),
    pytest.param(calls_refund("A1", 499), marks=fault(271), id="other-amount"),
    pytest.param(calls_refund("B2", 500), marks=fault(271), id="other-order"),
]


@pytest.mark.parametrize("second", SECOND_TRIES)
@pytest.mark.parametrize("ending", ANY_ENDING, ids=repr)
@contract("C31", "C33", "C34", "C35", "C37")
def test_a_second_issue_refund_in_a_later_round_is_refused(
    desk: Desk, ending: PaymentEnding, second: Completed
) -> None:
    desk.payments.ends(ending)

    assert desk.run(calls_refund("A1", 500), second, second, says("done")) == Replied("done")

    assert desk.payments.requests == [("A1", 500)]
    assert all("already attempted" in answer["error"] for answer in answers(desk)[1:])


@contract("C36", "C39", "C40")
def test_the_turn_records_the_attempt_before_the_request_is_sent(desk: Desk) -> None:
    seen: list[object] = []
    desk.payments.before = lambda: seen.extend(
        [
            desk.turn.refund_attempted,
            desk.database.turns["turn-1"].refund_attempted,
            desk.database.refunds["turn-1"],
            [record.state for record in desk.audit.mirrored],
        ]
    )

    desk.run(calls_refund("A1", 500), says("done"))

    assert seen == [True, True, RefundRecord("turn-1", "claimed", "A1", 500, "1.0"), ["claimed"]]


@contract("C38", "C24")
@fault("4.0:validation", 142)
def test_a_call_that_validation_refused_does_not_count(desk: Desk) -> None:
    wrong = ToolCall("wrong", "issue_refund", '{"order_id": "A1", "amount_cents": 0}')

    desk.run(calls(wrong, refund_call("A1", 500, call_id="right")), says("done"))

    assert [result.call_id for result in desk.results()] == ["wrong", "right"]
    assert "positive" in answers(desk)[0]["error"]
    assert desk.payments.moved == [("A1", 500)]


def test_a_call_that_validation_refused_leaves_no_row(desk: Desk) -> None:
    desk.run(calls(ToolCall("wrong", "issue_refund", "{}")), says("done"))

    assert desk.database.refunds == {}
    assert not desk.database.turns["turn-1"].refund_attempted


# --- Before the claim -----------------------------------------------------------------------------


def test_a_claim_needs_the_payments_timeout_and_a_second(desk: Desk) -> None:
    turn = desk.begin()
    desk.clock.now = turn.deadline - 11.0

    desk.run(calls_refund("A1", 500), says("done"), turn=turn)

    assert desk.payments.moved == [("A1", 500)]


def test_with_too_little_time_left_nothing_is_claimed_or_sent(desk: Desk) -> None:
    turn = desk.begin()
    desk.clock.now = turn.deadline - 10.9

    assert desk.run(calls_refund("A1", 500), says("sorry"), turn=turn) == Replied("sorry")

    assert answers(desk)[0]["error"] == f"not sent: {NO_TIME.en}"
    assert (desk.payments.requests, desk.database.refunds, turn.refund_attempted) == ([], {}, False)


@pytest.mark.parametrize("state", ["claimed", "unknown"])
@fault(251)
def test_an_order_whose_refund_awaits_confirmation_gets_no_new_one(desk: Desk, state: GateState) -> None:
    desk.database.refunds["earlier"] = RefundRecord("earlier", state, "A1", 500)

    assert desk.run(calls_refund("A1", 300), says("sorry")) == Replied("sorry")

    assert answers(desk)[0]["error"] == f"not sent: {NOT_CONFIRMED_YET.en}"
    assert desk.payments.requests == []
    assert not desk.turn.refund_attempted


@pytest.mark.parametrize("state", ["rejected", "not_sent"])
@fault(253)
def test_an_order_whose_refund_surely_moved_nothing_may_get_a_new_one(desk: Desk, state: GateState) -> None:
    desk.database.refunds["earlier"] = RefundRecord("earlier", state, "A1", 500)

    desk.run(calls_refund("A1", 300), says("done"))

    assert desk.payments.moved == [("A1", 300)]


def test_a_busy_order_does_not_stop_the_refund_of_another(desk: Desk) -> None:
    desk.database.refunds["earlier"] = RefundRecord("earlier", "unknown", "A1", 500)

    desk.run(calls(refund_call("A1", 300), refund_call("B2", 300)), says("done"))

    assert desk.payments.moved == [("B2", 300)]


def test_a_gate_that_is_closed_lets_nothing_through(desk: Desk) -> None:
    turn = desk.begin()
    desk.database.refunds["turn-1"] = RefundRecord("turn-1", "closed")

    desk.run(calls_refund("A1", 500), calls_refund("A1", 500), says("done"), turn=turn)

    assert "already decided" in answers(desk)[0]["error"]
    assert "already attempted" in answers(desk)[1]["error"]
    assert desk.payments.requests == []


def test_a_worker_that_lost_the_turn_before_the_claim_stops_without_another_completion(desk: Desk) -> None:
    def answers_as_the_facade_gives_up() -> Completed:
        desk.turns.give_up("turn-1", DeadlinePassed())
        return calls(refund_call("A1", 500), refund_call("B2", 500))

    assert desk.run(answers_as_the_facade_gives_up) == Superseded()
    assert desk.payments.requests == []


@pytest.mark.parametrize("outage", ["claim", "claim!"], ids=["not-written", "written-and-answer-lost"])
@fault(100)
def test_without_a_surely_committed_claim_nothing_is_sent(desk: Desk, outage: str) -> None:
    desk.database.outages = [outage]

    with pytest.raises(StoreUnavailable):
        desk.run(calls_refund("A1", 500))

    assert desk.payments.requests == []
