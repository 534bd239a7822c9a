"""What came back from payments: settled once, mirrored, told to the model in honest words."""

import json
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from refund_agent.outcomes import (
    CallPosition,
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
from refund_agent.ports import StoreUnavailable
from refund_agent.refunds import SEND_WITHIN_SECONDS, SETTLE_PAUSE_SECONDS, tell
from tests.fakes import PaymentEnding, calls, calls_refund, refund_call, says
from tests.unit.desk import Desk

fault = pytest.mark.fault
contract = pytest.mark.contract


def answers(desk: Desk) -> list[dict[str, Any]]:
    return [json.loads(result.content) for result in desk.results()]


# --- Sending --------------------------------------------------------------------------------------


def test_a_worker_that_was_frozen_between_claim_and_send_does_not_send_when_it_wakes(desk: Desk) -> None:
    def freeze() -> None:
        desk.clock.now += SEND_WITHIN_SECONDS + 0.1

    desk.audit.before = freeze

    assert desk.run(calls_refund("A1", 500), says("done")) == Replied("done")

    assert desk.payments.requests == []
    assert desk.database.refunds["turn-1"].state == "not_sent"
    assert "no money moved" in answers(desk)[0]["error"]


def test_a_worker_that_wakes_to_an_unknown_claim_sends_nothing_and_says_so_beside_it(desk: Desk) -> None:
    def freeze() -> None:
        desk.clock.now += SEND_WITHIN_SECONDS + 0.1
        claimed = desk.database.refunds["turn-1"]
        desk.database.refunds["turn-1"] = replace(claimed, state="unknown")

    desk.audit.before = freeze

    desk.run(calls_refund("A1", 500), says("done"))

    assert desk.payments.requests == []
    assert desk.database.refunds["turn-1"].state == "unknown"
    assert isinstance(desk.database.late_answers["turn-1"], NotSent)


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


TRIES_OF_A_MINUTE = round(60 / SETTLE_PAUSE_SECONDS)


@pytest.mark.parametrize(
    "outages",
    [["settle"], ["settle!"], ["settle"] * TRIES_OF_A_MINUTE],
    ids=["once", "answer lost", "a minute"],
)
@fault(102)
def test_settling_outlasts_an_outage_within_the_turn_and_sends_nothing_again(
    desk: Desk, outages: list[str]
) -> None:
    desk.database.outages = outages.copy()

    assert desk.run(calls_refund("A1", 500), says("done")) == Replied("done")

    assert desk.clock.slept == [SETTLE_PAUSE_SECONDS] * len(outages)
    assert desk.database.refunds["turn-1"].state == "paid"
    assert answers(desk)[0]["refund_id"] == "re-1"
    assert desk.payments.requests == [("A1", 500)]


@fault(102)
def test_a_claim_that_cannot_be_settled_until_the_deadline_stays_claimed_and_its_receipt_is_logged(
    desk: Desk,
) -> None:
    desk.database.outages = ["settle"] * 1000

    with pytest.raises(StoreUnavailable), capture_logs() as logs:
        desk.run(calls_refund("A1", 500))

    assert desk.clock.now < desk.turn.deadline <= desk.clock.now + 2 * SETTLE_PAUSE_SECONDS
    assert desk.database.refunds["turn-1"].state == "claimed"
    assert desk.payments.requests == [("A1", 500)]
    assert [(entry["event"], entry["answer"], entry["refund_id"]) for entry in logs] == [
        ("refund_not_settled", "Paid", "re-1")
    ]


@pytest.mark.parametrize(
    ("answer", "resolved", "alarms"),
    [
        (Paid("re-1", "ok", 500), "not_sent", ["late_answer_contradicts"]),
        (Paid("re-1", "ok", 500), "paid", []),
        (Rejected("no"), "paid", ["late_answer_contradicts"]),
        (NotSent("refused"), "not_sent", []),
        (Unknown("ReadTimeout"), "paid", []),
    ],
)
@fault(246)
def test_an_answer_that_contradicts_what_a_person_has_answered_meanwhile_is_an_alarm(
    desk: Desk, answer: PaymentAnswer, resolved: GateState, alarms: list[str]
) -> None:
    def resolve() -> None:
        claimed = desk.database.refunds["turn-1"]
        desk.database.refunds["turn-1"] = replace(claimed, state=resolved)

    desk.payments.before = resolve
    desk.payments.ends(answer)

    with capture_logs() as logs:
        desk.run(calls_refund("A1", 500), says("done"))

    assert [entry["alarm"] for entry in logs if entry["event"] == "alarm"] == alarms
    assert desk.database.refunds["turn-1"].state == resolved


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
@fault(157)
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
