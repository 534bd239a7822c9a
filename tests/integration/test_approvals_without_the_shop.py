"""Approved refunds while the shop's own order service cannot be asked."""

from collections.abc import Callable, Sequence

import pytest
from sqlalchemy import select, update

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_orders import SqlOrders
from refund_agent.adapters.sql_sweeps import MAX_OWNERS, SqlSweeps
from refund_agent.adapters.sql_tables import turns
from refund_agent.adapters.sql_usage import SqlUsage
from refund_agent.approvals import Approval
from refund_agent.orders import Order, OrdersUnavailable, Profile
from refund_agent.outcomes import CallPosition, Claimed, Superseded
from tests.support_stage import SupportStage

ADA, DANA = "cust-ada", "staff-dana"
ORDER, CENTS = "ORD-1005", 50_001


class AwayShop:
    """A shop's own service, with the seeded orders; `is_away` makes every question fail."""

    def __init__(self, database: Database) -> None:
        self._orders = SqlOrders(database)
        self.is_away = False
        self.before: Callable[[], object] = lambda: None

    def find(self, customer_id: str, order_id: str) -> Order | None:
        self._answer()
        return self._orders.find(customer_id, order_id)

    def find_for_staff(self, order_id: str) -> Order | None:
        self._answer()
        return self._orders.find_for_staff(order_id)

    def list(self, customer_id: str, *, limit: int) -> Sequence[Order]:
        self._answer()
        return self._orders.list(customer_id, limit=limit)

    def profile(self, customer_id: str) -> Profile | None:
        self._answer()
        return self._orders.profile(customer_id)

    def _answer(self) -> None:
        self.before()
        if self.is_away:
            raise OrdersUnavailable("away")


@pytest.fixture
def shop(database: Database) -> AwayShop:
    return AwayShop(database)


@pytest.fixture
def stage(database: Database, shop: AwayShop) -> SupportStage:
    built = SupportStage(database, orders=shop)
    built.plant()
    return built


@pytest.fixture
def approved(stage: SupportStage) -> Approval:
    """A refund that was approved, and whose message no worker has taken yet."""
    waiting = stage.escalate(ADA, ORDER, CENTS)
    stage.approval_desk.decide(waiting.id, approve=True, by=DANA, note="Looks right.")
    return waiting


def told(stage: SupportStage, approval: Approval) -> list[str]:
    """What the customer reads of the refund's result."""
    return [
        line.text for line in stage.conversations.lines(approval.conversation_id) if line.kind == "refund"
    ]


def change(stage: SupportStage, approval: Approval, **values: object) -> None:
    with stage.database.transaction() as tx:
        tx.execute(update(turns).where(turns.c.id == approval.id).values(**values))


def queued_for_seconds(stage: SupportStage, approval: Approval) -> int:
    """How far ahead the turn's next try is."""
    with stage.database.transaction() as tx:
        ahead = tx.execute(select(turns.c.queued_at_ms - now_ms()).where(turns.c.id == approval.id))
        return round(int(ahead.scalar_one()) / 1000)


def deliver_all(stage: SupportStage) -> None:
    """Let a worker take every message that was queued."""
    queued, stage.queue.queued = stage.queue.queued, []
    for turn_id in queued:
        stage.deliver(turn_id)


def state_of(stage: SupportStage, approval: Approval) -> str:
    found = stage.turns.find(approval.id)
    assert found is not None
    return found.state


def lose_the_worker_of(stage: SupportStage, approval: Approval) -> None:
    """Let the worker that runs the turn fall silent, and another one find that out."""
    change(stage, approval, lease_until_ms=1)
    SqlSweeps(stage.database, lease_seconds=15, payments_timeout_seconds=10).take_over()


# --- It was attempted -----------------------------------------------------------------------------


@pytest.mark.fault(297)
def test_a_refund_that_was_paid_before_its_worker_died_is_told_although_the_shop_is_away(
    stage: SupportStage, shop: AwayShop, approved: Approval
) -> None:
    turn = stage.turns.begin(approved.id, owner="w1")
    assert turn is not None
    claim = stage.ledger.claim(turn, call=CallPosition(0, 0), order_id=ORDER, amount_cents=CENTS)
    assert isinstance(claim, Claimed)
    receipt = stage.payments.refund(ORDER, CENTS, send_within_seconds=5.0)
    stage.ledger.settle(claim.record, epoch=turn.epoch, answer=receipt)
    lose_the_worker_of(stage, approved)
    shop.is_away = True

    stage.deliver(approved.id)
    (line,) = told(stage, approved)
    assert line.startswith("Refund sent: 500.01 for order ORD-1005")
    assert stage.payments.requests == [(ORDER, CENTS)]


# --- Nothing was attempted ------------------------------------------------------------------------


@pytest.mark.fault(300)
def test_a_hiccup_of_the_shop_uses_up_no_approval(
    stage: SupportStage, shop: AwayShop, approved: Approval
) -> None:
    shop.is_away = True
    deliver_all(stage)
    stage.sweep()
    deliver_all(stage)
    assert (state_of(stage, approved), stage.queue.queued, told(stage, approved)) == ("queued", [], [])
    assert stage.ledger.find(approved.id) is None

    shop.is_away = False
    change(stage, approved, queued_at_ms=1)
    stage.sweep()
    deliver_all(stage)
    assert stage.payments.requests == [(ORDER, CENTS)]
    (line,) = told(stage, approved)
    assert line.startswith("Refund sent: 500.01 EUR for order ORD-1005")


@pytest.mark.fault(300)
def test_a_shop_that_stays_away_is_asked_more_and_more_seldom(
    stage: SupportStage, shop: AwayShop, approved: Approval
) -> None:
    shop.is_away = True
    pauses: list[int] = []
    for _ in range(7):
        stage.deliver(approved.id)
        pauses.append(queued_for_seconds(stage, approved))
    assert pauses == [15, 30, 60, 120, 240, 300, 300]


@pytest.mark.fault(300)
def test_what_the_shop_could_not_answer_by_the_deadline_is_told_as_not_sent(
    stage: SupportStage, shop: AwayShop, approved: Approval
) -> None:
    shop.is_away = True
    deliver_all(stage)
    change(stage, approved, deadline_at_ms=1)
    stage.sweep()
    assert [stage.approval_desk.tell_broken_off() for _ in range(2)] == [1, 0]
    assert told(stage, approved) == [
        "The approved refund was not sent: it could not be carried out in time. No money moved."
    ]

    shop.is_away = False
    stage.deliver(approved.id)
    assert stage.payments.requests == []


def test_a_worker_that_hears_of_the_outage_too_late_puts_nothing_off(
    stage: SupportStage, shop: AwayShop, approved: Approval
) -> None:
    """It was thought dead, and another has sent the refund meanwhile."""

    def others_go_on() -> None:
        shop.before = lambda: None
        lose_the_worker_of(stage, approved)
        stage.deliver(approved.id)
        shop.is_away = True

    shop.before = others_go_on
    assert stage.deliver(approved.id) == Superseded()
    assert (state_of(stage, approved), stage.payments.requests) == ("ended", [(ORDER, CENTS)])
    assert len(told(stage, approved)) == 1


@pytest.mark.parametrize("tries", [0, 1, 20])
def test_tries_that_the_shop_did_not_answer_count_as_no_lost_workers(
    stage: SupportStage, shop: AwayShop, approved: Approval, tries: int
) -> None:
    shop.is_away = True
    for _ in range(tries):
        stage.deliver(approved.id)
    for _ in range(MAX_OWNERS - 1):
        assert stage.turns.begin(approved.id, owner="dies") is not None
        change(stage, approved, lease_until_ms=1)
        stage.sweep()
        assert state_of(stage, approved) == "queued"

    assert stage.turns.begin(approved.id, owner="dies") is not None
    change(stage, approved, lease_until_ms=1)
    stage.sweep()
    assert state_of(stage, approved) == "ended"


def test_refunds_that_are_put_off_take_no_customers_place(
    stage: SupportStage, shop: AwayShop, approved: Approval
) -> None:
    usage = SqlUsage(stage.database)
    assert usage.open_turns() == 1
    shop.is_away = True
    stage.deliver(approved.id)
    assert usage.open_turns() == 0
    change(stage, approved, queued_at_ms=1)
    assert usage.open_turns() == 1
