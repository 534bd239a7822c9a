"""Approvals: bound to their exact arguments, decided once, sent at most once, never against the policy."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from sqlalchemy import func, select, update

from refund_agent.adapters import sql_approvals
from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_support_tables import approvals, orders
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.approval_desk import ApprovalDesk
from refund_agent.approvals import (
    Approval,
    DecideAnswer,
    Decided,
    NewApproval,
    NoSuchApproval,
    NotPending,
    OwnRequest,
)
from refund_agent.outcomes import CallPosition, Claimed, RefundRecord, Replied, Unknown
from refund_agent.ports import StoreUnavailable
from refund_agent.runner import NothingToDo
from tests.fakes import calls_refund, says
from tests.support_stage import SupportStage, reply_of

ADA, BEN, DANA = "cust-ada", "cust-ben", "staff-dana"
ORDER, CENTS = "ORD-1005", 50_001
"""Ada's, delivered, and one cent over the limit."""
PEOPLE = 20
T = TypeVar("T")


@pytest.fixture
def waiting(stage: SupportStage) -> Approval:
    return escalate(stage)


def escalate(stage: SupportStage, *, order_id: str = ORDER, cents: int = CENTS) -> Approval:
    return stage.escalate(ADA, order_id, cents)


def decide(stage: SupportStage, approval: Approval, *, approve: bool = True, by: str = DANA) -> DecideAnswer:
    return stage.approval_desk.decide(approval.id, approve=approve, by=by, note="Looks right.")


def deliver_all(stage: SupportStage) -> None:
    """Let a worker take every message that was queued, as often as it was."""
    for turn_id in stage.queue.queued:
        stage.deliver(turn_id)
    stage.queue.queued.clear()


def said(stage: SupportStage, approval: Approval) -> list[str]:
    """What the customer reads of the system in the approval's conversation, after that it waits."""
    lines = stage.conversations.lines(approval.conversation_id)
    told = [line.text for line in lines if line.speaker == "system"]
    assert told.pop(0) == "This refund waits for a colleague's decision."
    return told


def change(stage: SupportStage, approval: Approval, **values: object) -> None:
    with stage.database.transaction() as tx:
        tx.execute(update(approvals).where(approvals.c.id == approval.id).values(**values))


def turns_of(stage: SupportStage, approval: Approval) -> int:
    with stage.database.transaction() as tx:
        return int(tx.execute(select(func.count()).where(turns.c.id == approval.id)).scalar_one())


# --- Asking ---------------------------------------------------------------------------------------


@pytest.mark.fault(268)
def test_above_the_limit_a_person_decides_and_nothing_is_sent(stage: SupportStage) -> None:
    turn = stage.say(
        "Refund ORD-1005, all of it.",
        calls_refund(ORDER, CENTS),
        says("I asked a colleague."),
        conversation_id=stage.open(ADA),
        customer_id=ADA,
    )
    (found,) = stage.approvals.page(state="pending", limit=10)
    assert (found.customer_id, found.order_id, found.amount_cents) == (ADA, ORDER, CENTS)
    assert (found.turn_id, found.policy_version, found.is_intact) == (turn.id, "2026-11", True)
    assert found.expires_at_ms - found.requested_at_ms == 7 * 24 * 3600 * 1000
    assert stage.payments.requests == []
    assert turn.refund is None
    assert "a colleague will decide" in reply_of(turn)


def test_an_order_has_one_pending_approval_at_a_time(stage: SupportStage, waiting: Approval) -> None:
    again = escalate(stage)
    assert again == waiting
    decide(stage, waiting, approve=False)
    assert escalate(stage).id != waiting.id


def test_two_turns_that_ask_at_once_get_the_one_approval(stage: SupportStage, database_url: str) -> None:
    start = threading.Barrier(10)
    wide = Database(database_url, pool_size=10)
    other = SupportStage(wide)

    def ask(number: int) -> str:
        new = NewApproval(f"t-{number}", f"v-{number}", ADA, ORDER, CENTS, "large", "2026-11", 7)
        start.wait()
        return persist(lambda: other.approvals.request(new).id)

    try:
        with ThreadPoolExecutor(10) as pool:
            ids = set(pool.map(ask, range(10)))
    finally:
        wide.close()
    assert len(ids) == 1
    assert len(stage.approvals.page(state="pending", limit=10)) == 1


# --- Deciding -------------------------------------------------------------------------------------


def test_what_is_approved_is_sent_and_said_in_the_conversation(
    stage: SupportStage, waiting: Approval
) -> None:
    answer = decide(stage, waiting)
    assert isinstance(answer, Decided)
    assert (answer.approval.state, answer.approval.decided_by) == ("approved", DANA)
    assert stage.payments.requests == [], "saving a decision sends nothing"
    deliver_all(stage)
    assert stage.payments.moved == [(ORDER, CENTS)]
    assert said(stage, waiting) == [
        "A colleague approved your refund. It is being sent.",
        "Refund sent: 500.01 EUR for order ORD-1005. Reference: re-1, status: succeeded.",
    ]
    record = RefundRecord(waiting.id, "paid", ORDER, CENTS, "0.0", "re-1", "succeeded")
    assert stage.ledger.find(waiting.id) == record
    lines = stage.conversations.lines(waiting.conversation_id)
    assert [(line.kind, line.refund) for line in lines if line.refund] == [("refund", record)]


@pytest.mark.parametrize("approve", [True, False])
def test_a_second_decision_changes_nothing(stage: SupportStage, waiting: Approval, *, approve: bool) -> None:
    decide(stage, waiting, approve=approve)
    second = decide(stage, waiting, approve=not approve, by="staff-sam")
    assert isinstance(second, NotPending)
    assert (second.approval.decided_by, second.approval.state) == (
        DANA,
        "approved" if approve else "declined",
    )
    deliver_all(stage)
    assert stage.payments.requests == ([(ORDER, CENTS)] if approve else [])


def test_20_people_who_approve_at_once_send_one_refund(
    stage: SupportStage, waiting: Approval, database_url: str
) -> None:
    start = threading.Barrier(PEOPLE)
    wide = Database(database_url, pool_size=PEOPLE)
    desk = ApprovalDesk(SupportStage(wide).approvals, SupportStage(wide).conversations, stage.queue)

    def press(number: int) -> DecideAnswer:
        start.wait()
        by = f"staff-{number}"
        return persist(lambda: desk.decide(waiting.id, approve=True, by=by, note="yes"))

    try:
        with ThreadPoolExecutor(PEOPLE) as pool:
            answers = list(pool.map(press, range(PEOPLE)))
    finally:
        wide.close()
    assert sum(isinstance(answer, Decided) for answer in answers) <= 1
    assert all(isinstance(answer, Decided | NotPending) for answer in answers)
    assert turns_of(stage, waiting) == 1
    sweep_lost(stage)
    deliver_all(stage)
    assert stage.payments.requests == [(ORDER, CENTS)]


def persist(action: Callable[[], T]) -> T:
    """Press again while the database is busy, as people do."""
    for _ in range(30):
        try:
            return action()
        except StoreUnavailable:
            continue
    raise AssertionError("the database never answered")


def test_a_refund_that_is_delivered_twice_is_sent_once(stage: SupportStage, waiting: Approval) -> None:
    decide(stage, waiting)
    stage.queue.queued *= 2
    deliver_all(stage)
    assert isinstance(stage.deliver(waiting.id), NothingToDo)
    assert stage.payments.requests == [(ORDER, CENTS)]


def test_a_declined_one_is_told_with_its_reason_and_never_sent(
    stage: SupportStage, waiting: Approval
) -> None:
    decide(stage, waiting, approve=False)
    assert said(stage, waiting) == ["A colleague declined your refund: Looks right."]
    assert (stage.queue.queued, turns_of(stage, waiting)) == ([], 0)


def test_the_requester_may_not_decide(stage: SupportStage, waiting: Approval) -> None:
    for approve in (True, False):
        assert isinstance(decide(stage, waiting, approve=approve, by=ADA), OwnRequest)
    assert stage.approvals.find(waiting.id) == waiting
    assert (stage.queue.queued, turns_of(stage, waiting)) == ([], 0)


def test_what_is_not_there_cannot_be_decided(stage: SupportStage) -> None:
    answer = stage.approval_desk.decide("no-such-id", approve=True, by=DANA, note="")
    assert isinstance(answer, NoSuchApproval)
    assert stage.queue.queued == []


# --- Expiring -------------------------------------------------------------------------------------


def test_an_expired_one_cannot_be_approved_even_before_it_was_swept(
    stage: SupportStage, waiting: Approval
) -> None:
    change(stage, waiting, expires_at_ms=1)
    assert isinstance(decide(stage, waiting), NotPending)
    assert (stage.queue.queued, turns_of(stage, waiting)) == ([], 0)


def test_expiring_is_counted_and_said_once(stage: SupportStage, waiting: Approval) -> None:
    assert stage.approval_desk.expire() == 0
    change(stage, waiting, expires_at_ms=1)
    assert [stage.approval_desk.expire() for _ in range(2)] == [1, 0]
    (expired,) = stage.approvals.page(state="expired", limit=10)
    assert expired.id == waiting.id
    assert len(said(stage, waiting)) == 1
    assert "expired" in said(stage, waiting)[0]
    assert isinstance(decide(stage, waiting), NotPending)


# --- What may have changed since ------------------------------------------------------------------


@pytest.mark.parametrize(
    "changed", [{"amount_cents": 9_900_000}, {"order_id": "ORD-1004"}, {"customer_id": BEN}]
)
def test_a_refund_whose_arguments_were_changed_is_not_sent(
    stage: SupportStage, waiting: Approval, changed: dict[str, object]
) -> None:
    change(stage, waiting, **changed)
    tampered = stage.approvals.find(waiting.id)
    assert tampered is not None
    assert not tampered.is_intact
    decide(stage, waiting)
    deliver_all(stage)
    assert stage.payments.requests == []
    assert stage.ledger.find(waiting.id) is None
    assert "not sent" in said(stage, waiting)[-1]


@pytest.mark.fault(250, 252)
def test_an_order_that_was_refunded_meanwhile_gets_no_second_refund(
    stage: SupportStage, waiting: Approval
) -> None:
    """A part below the limit needs no person; the approval of the rest comes too late then."""
    stage.say(
        "Then give me 10.00 of it now.",
        calls_refund(ORDER, 1_000),
        says("Done."),
        conversation_id=waiting.conversation_id,
        customer_id=ADA,
    )
    assert stage.payments.moved == [(ORDER, 1_000)]
    decide(stage, waiting)
    deliver_all(stage)
    assert stage.payments.requests == [(ORDER, 1_000)]
    assert "already refunded" in said(stage, waiting)[-1]


@pytest.mark.fault(250)
@pytest.mark.parametrize(
    "changed",
    [{"final_sale": True}, {"status": "cancelled"}, {"customer_id": BEN}, {"paid_cents": CENTS - 1}],
)
def test_a_person_decides_about_the_amount_and_not_about_the_policy(
    stage: SupportStage, waiting: Approval, changed: dict[str, object]
) -> None:
    with stage.database.transaction() as tx:
        tx.execute(update(orders).where(orders.c.id == ORDER).values(**changed))
    decide(stage, waiting)
    deliver_all(stage)
    assert stage.payments.requests == []
    assert "not sent" in said(stage, waiting)[-1]


def test_an_approved_refund_whose_answer_is_lost_is_said_to_be_unknown(
    stage: SupportStage, waiting: Approval
) -> None:
    stage.payments.ends(Unknown("ReadTimeout"))
    decide(stage, waiting)
    deliver_all(stage)
    assert said(stage, waiting)[-1].startswith("Refund not certain yet: 500.01 EUR")
    deliver_all(stage)
    assert stage.payments.requests == [(ORDER, CENTS)]


# --- Crashes --------------------------------------------------------------------------------------


def sweep_lost(stage: SupportStage) -> None:
    """Let a worker sweep some time after the message of a queued turn was lost."""
    stage.queue.queued.clear()
    with stage.database.transaction() as tx:
        tx.execute(update(turns).where(turns.c.state == "queued").values(queued_at_ms=1))
    stage.sweep()


def test_a_decision_whose_message_was_never_sent_is_queued_by_the_sweeper(
    stage: SupportStage, waiting: Approval
) -> None:
    stage.queue.is_away = True
    assert isinstance(decide(stage, waiting), Decided)
    found = stage.turns.find(waiting.id)
    assert found is not None
    assert found.state == "queued"
    stage.queue.is_away = False
    sweep_lost(stage)
    assert stage.queue.queued == [waiting.id]
    deliver_all(stage)
    sweep_lost(stage)
    assert stage.queue.queued == []
    assert stage.payments.requests == [(ORDER, CENTS)]


def test_a_worker_that_dies_while_sending_leaves_an_unknown_and_no_second_request(
    stage: SupportStage, waiting: Approval
) -> None:
    class Killed(BaseException):
        pass

    def die() -> None:
        raise Killed

    stage.payments.before = die
    decide(stage, waiting)
    with pytest.raises(Killed):
        deliver_all(stage)
    stage.queue.queued.clear()
    with stage.database.transaction() as tx:
        tx.execute(update(turns).where(turns.c.id == waiting.id).values(lease_until_ms=1))
    stage.payments.before = lambda: None
    stage.sweep()
    deliver_all(stage)
    record = stage.ledger.find(waiting.id)
    assert record is not None
    assert record.state == "unknown"
    assert stage.payments.requests == [(ORDER, CENTS)]
    assert said(stage, waiting)[-1].startswith("Refund not certain yet")
    ended = stage.turns.find(waiting.id)
    assert ended is not None
    assert isinstance(ended.outcome, Replied)


def test_an_approved_refund_has_one_row_in_the_ledger(stage: SupportStage, waiting: Approval) -> None:
    decide(stage, waiting)
    deliver_all(stage)
    with stage.database.transaction() as tx:
        rows = tx.execute(select(refunds.c.turn_id).where(refunds.c.order_id == ORDER)).scalars().all()
    assert rows == [waiting.id]


# --- An approved refund that breaks off -----------------------------------------------------------


def die_before_telling(stage: SupportStage, approval: Approval) -> None:
    """Let the approved refund's turn come to its end without anybody who could say so."""
    with stage.database.transaction() as tx:
        tx.execute(update(turns).where(turns.c.id == approval.id).values(deadline_at_ms=1))
    stage.sweep()


def test_an_approved_refund_that_never_ran_is_told_to_have_moved_nothing(
    stage: SupportStage, waiting: Approval
) -> None:
    decide(stage, waiting)
    die_before_telling(stage, waiting)
    deliver_all(stage)

    assert [stage.approval_desk.tell_broken_off() for _ in range(2)] == [1, 0]
    assert said(stage, waiting)[1:] == [
        "The approved refund was not sent: it could not be carried out in time. No money moved."
    ]
    assert stage.payments.requests == []


@pytest.mark.parametrize(
    ("answer", "told"),
    [(None, "Refund sent: 500.01 for order ORD-1005"), (Unknown("ReadTimeout"), "Refund not certain yet")],
)
def test_an_approved_refund_whose_worker_died_after_it_was_sent_is_told_from_the_ledger(
    stage: SupportStage, waiting: Approval, answer: Unknown | None, told: str
) -> None:
    stage.payments.endings = [] if answer is None else [answer]
    decide(stage, waiting)
    turn = stage.turns.begin(waiting.id, owner="w1")
    assert turn is not None
    claim = stage.ledger.claim(turn, call=CallPosition(0, 0), order_id=ORDER, amount_cents=CENTS)
    assert isinstance(claim, Claimed)
    stage.ledger.settle(
        claim.record, epoch=turn.epoch, answer=stage.payments.refund(ORDER, CENTS, send_within_seconds=5.0)
    )
    die_before_telling(stage, waiting)

    assert stage.approval_desk.tell_broken_off() == 1
    assert len(said(stage, waiting)) == 2
    assert said(stage, waiting)[-1].startswith(told)


def test_an_approved_refund_that_was_told_is_not_told_again(stage: SupportStage, waiting: Approval) -> None:
    decide(stage, waiting)
    deliver_all(stage)
    assert stage.approval_desk.tell_broken_off() == 0


def test_a_turn_that_asks_again_after_a_crash_makes_no_second_approval(
    stage: SupportStage, waiting: Approval
) -> None:
    asked = NewApproval(
        waiting.turn_id, waiting.conversation_id, ADA, ORDER, CENTS, waiting.reason, "2026-11", 7
    )
    decide(stage, waiting, approve=False)

    assert stage.approvals.request(asked).state == "declined"
    assert stage.approvals.page(state="pending", limit=10) == []


def test_a_decision_that_cannot_be_told_is_not_saved(
    stage: SupportStage, waiting: Approval, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*_: object) -> None:
        raise StoreUnavailable("lost between the decision and its announcement")

    monkeypatch.setattr(sql_approvals, "add_entry", lose)
    with pytest.raises(StoreUnavailable):
        decide(stage, waiting)
    found = stage.approvals.find(waiting.id)
    assert found is not None
    assert found.state == "pending"
    assert turns_of(stage, waiting) == 0
