"""Claim, send, settle: at most one refund a request, and an honest word about what became of it."""

import json
from typing import Any

import pytest

from refund_agent.outcomes import (
    CallPosition,
    DeadlinePassed,
    GateState,
    NotSent,
    Paid,
    PaymentAnswer,
    RefundRecord,
    Rejected,
    Replied,
    Superseded,
    Unknown,
)
from refund_agent.ports import Completed, StoreUnavailable
from refund_agent.refunds import SETTLE_PAUSE_SECONDS, SETTLE_TRIES, tell
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

    assert answers(desk)[0]["error"].startswith("not sent: too little time")
    assert (desk.payments.requests, desk.database.refunds, turn.refund_attempted) == ([], {}, False)


@pytest.mark.parametrize("state", ["claimed", "unknown"])
@fault(251)
def test_an_order_whose_refund_awaits_confirmation_gets_no_new_one(desk: Desk, state: GateState) -> None:
    desk.database.refunds["earlier"] = RefundRecord("earlier", state, "A1", 500)

    assert desk.run(calls_refund("A1", 300), says("sorry")) == Replied("sorry")

    assert "awaiting confirmation" in answers(desk)[0]["error"]
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


# --- Settling -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ending", "state"),
    [
        (Paid("re-9", "pending", 500), "paid"),
        (Rejected("no such order"), "rejected"),
        (NotSent("refused"), "not_sent"),
        (Unknown("ReadTimeout"), "unknown"),
        (RuntimeError("a bug"), "unknown"),
    ],
    ids=repr,
)
def test_what_came_back_is_settled_and_mirrored(desk: Desk, ending: PaymentEnding, state: str) -> None:
    desk.payments.ends(ending)

    desk.run(calls_refund("A1", 500), says("done"))

    assert desk.database.refunds["turn-1"].state == state
    assert desk.audit.mirrored[-1] == desk.turn.refund == desk.database.refunds["turn-1"]
    assert [record.state for record in desk.audit.mirrored] == ["claimed", state]


def test_an_audit_mirror_that_is_away_changes_nothing(desk: Desk) -> None:
    desk.audit.is_away = True

    assert desk.run(calls_refund("A1", 500), says("done")) == Replied("done")
    assert desk.payments.moved == [("A1", 500)]


@pytest.mark.parametrize("outages", [["settle"], ["settle!"], ["settle"] * (SETTLE_TRIES - 1)], ids=str)
@fault(102)
def test_settling_outlasts_a_short_outage_and_sends_nothing_again(desk: Desk, outages: list[str]) -> None:
    desk.database.outages = outages.copy()

    assert desk.run(calls_refund("A1", 500), says("done")) == Replied("done")

    assert desk.clock.slept == [SETTLE_PAUSE_SECONDS] * len(outages)
    assert desk.database.refunds["turn-1"].state == "paid"
    assert answers(desk)[0]["refund_id"] == "re-1"
    assert desk.payments.requests == [("A1", 500)]


@fault(102)
def test_a_claim_that_cannot_be_settled_stays_claimed(desk: Desk) -> None:
    desk.database.outages = ["settle"] * SETTLE_TRIES

    with pytest.raises(StoreUnavailable):
        desk.run(calls_refund("A1", 500))

    assert desk.database.refunds["turn-1"].state == "claimed"
    assert desk.payments.requests == [("A1", 500)]


def test_an_answer_that_comes_after_the_claim_was_given_up_is_told_as_unknown(desk: Desk) -> None:
    desk.payments.before = lambda: desk.database.owner_dies("turn-1")

    assert desk.run(calls_refund("A1", 500)) == Superseded()

    assert desk.database.refunds["turn-1"].state == "unknown"
    assert desk.database.late_answers["turn-1"] == Paid("re-1", "succeeded", 500)
    assert "outcome unknown" in answers(desk)[0]["error"]


# --- What the model is told -----------------------------------------------------------------------


@pytest.mark.parametrize("status", ["succeeded", "pending", "processing"])
@contract("C34")
def test_a_receipt_is_told_as_it_stands(desk: Desk, status: str) -> None:
    desk.payments.ends(Paid("re-9", status, 500))

    desk.run(calls_refund("A1", 500), says("done"))

    assert answers(desk) == [{"refund_id": "re-9", "status": status, "amount_cents": 500}]


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (Rejected("order is not refundable"), "no money moved: order is not refundable"),
        (NotSent("ConnectionRefused"), "not sent; no money moved"),
        (Unknown("ReadTimeout"), "outcome unknown"),
        (Unknown("AmountDiffers", review=True, evidence='{"amount_cents": 499}'), "outcome unknown"),
        (RuntimeError("a bug"), "outcome unknown"),
    ],
    ids=repr,
)
@contract("C28", "C29", "C35", "C67", "C68")
def test_every_payments_side_failure_is_that_calls_error(
    desk: Desk, ending: PaymentEnding, words: str
) -> None:
    desk.payments.ends(ending)

    assert desk.run(calls_refund("A1", 500), says("sorry")) == Replied("sorry")

    (answer,) = answers(desk)
    assert list(answer) == ["error"]
    assert words in answer["error"]


UNKNOWNS: list[PaymentAnswer] = [Unknown("ReadTimeout"), Unknown("499", review=True, evidence="499")]


@pytest.mark.parametrize("ending", UNKNOWNS, ids=repr)
@contract("C82")
def test_an_unknown_outcome_is_told_as_unknown_and_never_as_failed(desk: Desk, ending: PaymentAnswer) -> None:
    desk.payments.ends(ending)

    desk.run(calls_refund("A1", 500), says("we will check"))

    told = answers(desk)[0]["error"]
    assert "outcome unknown" in told
    assert "Do not promise" in told
    assert "do not try again" in told
    assert "fail" not in told.lower()
    assert not any(figure in told for figure in ("500", "499", "5.00"))


@pytest.mark.parametrize("state", ["claimed", "unknown"])
@contract("C82")
def test_a_claim_left_behind_is_told_as_unknown(state: GateState) -> None:
    assert "outcome unknown" in str(tell(RefundRecord("turn-1", state, "A1", 500)))


# --- After a crash --------------------------------------------------------------------------------


@contract("C46")
def test_the_executed_call_gets_its_result_from_the_ledger_and_no_other_call_does(desk: Desk) -> None:
    turn = desk.begin()
    turn.messages.append(calls(refund_call("A1", 500), refund_call("A1", 500)).message)
    turn.refund_attempted = True
    turn.refund = RefundRecord("turn-1", "paid", "A1", 500, str(CallPosition(1, 0)), "re-7", "succeeded")

    assert desk.run(says("done"), turn=turn) == Replied("done")

    told, refused = answers(desk)
    assert told == {"refund_id": "re-7", "status": "succeeded", "amount_cents": 500}
    assert "already attempted" in refused["error"]
    assert desk.payments.requests == []
