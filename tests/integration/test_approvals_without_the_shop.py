"""Approved refunds while the shop's own order service cannot be asked."""

from collections.abc import Sequence

import pytest
from sqlalchemy import update

from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_orders import SqlOrders
from refund_agent.adapters.sql_sweeps import SqlSweeps
from refund_agent.adapters.sql_tables import turns
from refund_agent.approvals import Approval
from refund_agent.orders import Customer, Order, OrdersUnavailable
from refund_agent.outcomes import CallPosition, Claimed
from tests.fakes import calls_refund, says
from tests.support_stage import SupportStage

ADA, DANA = "cust-ada", "staff-dana"
ORDER, CENTS = "ORD-1005", 50_001


class AwayShop:
    """A shop's own service, with the seeded orders; `is_away` makes every question fail."""

    def __init__(self, database: Database) -> None:
        self._orders = SqlOrders(database)
        self.is_away = False
        self.asked = 0

    def find(self, customer_id: str, order_id: str) -> Order | None:
        self._answer()
        return self._orders.find(customer_id, order_id)

    def find_for_staff(self, order_id: str) -> Order | None:
        self._answer()
        return self._orders.find_for_staff(order_id)

    def list(self, customer_id: str, *, limit: int) -> Sequence[Order]:
        self._answer()
        return self._orders.list(customer_id, limit=limit)

    def customer(self, customer_id: str) -> Customer | None:
        self._answer()
        return self._orders.customer(customer_id)

    def _answer(self) -> None:
        self.asked += 1
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
    stage.say(
        f"Please refund {ORDER}.",
        calls_refund(ORDER, CENTS),
        says("A colleague has to decide about it."),
        conversation_id=stage.open(ADA),
        customer_id=ADA,
    )
    (waiting,) = stage.approvals.page(state="pending", limit=10)
    stage.approval_desk.decide(waiting.id, approve=True, by=DANA, note="Looks right.")
    return waiting


def told(stage: SupportStage, approval: Approval) -> list[str]:
    """What the customer reads of the refund's result."""
    return [
        line.text for line in stage.conversations.lines(approval.conversation_id) if line.kind == "refund"
    ]


def lose_the_worker_of(stage: SupportStage, approval: Approval) -> None:
    """Let the worker that runs the turn fall silent, and another one find that out."""
    with stage.database.transaction() as tx:
        tx.execute(update(turns).where(turns.c.id == approval.id).values(lease_until_ms=1))
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
    stage.ledger.settle(claim.record, epoch=turn.epoch, answer=stage.payments.refund(ORDER, CENTS))
    lose_the_worker_of(stage, approved)
    shop.is_away = True

    stage.deliver(approved.id)
    (line,) = told(stage, approved)
    assert line.startswith("Refund sent: 500.01 for order ORD-1005")
    assert stage.payments.requests == [(ORDER, CENTS)]
