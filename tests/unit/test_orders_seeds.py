"""The seeded orders: one per branch of the policy, and each expectation is what the policy says."""

from datetime import date, timedelta

import pytest

from refund_agent.orders import RefundsSoFar
from refund_agent.outcomes import RefundRecord
from refund_agent.policy import Approved, Case, decide
from refund_agent.policy_file import rules_in_force
from refund_agent.seeds import SeededOrder, plant, read_seeds
from sandbox.seeds import seeded_customers, seeded_orders, table
from tests.fake_tables import FakeDatabase, FakeLedger, FakeTurns
from tests.fakes import FakeClock

TODAY = date(2026, 11, 20)
SEEDS = read_seeds(TODAY)
RULES = rules_in_force(TODAY)
BRANCHES = {
    "approved",
    "order_not_found",
    "not_delivered",
    "final_sale",
    "return_window_closed",
    "already_refunded",
    "amount_not_refundable",
    "needs_approval",
}


@pytest.mark.parametrize("seeded", SEEDS.orders, ids=lambda seeded: seeded.order.id)
def test_what_to_expect_is_what_the_policy_says(seeded: SeededOrder) -> None:
    refunds = RefundsSoFar(unconfirmed_cents=seeded.unknown_cents)
    decision = decide(Case(seeded.asked_by, seeded.order, seeded.asks_cents, TODAY, refunds), RULES)
    assert ("approved" if isinstance(decision, Approved) else decision.rule) == seeded.rule
    assert seeded.order.id in seeded.say
    assert {seeded.order.customer_id, seeded.asked_by} <= {customer.id for customer in SEEDS.customers}


def test_there_is_an_order_for_every_branch_and_every_border() -> None:
    assert {seeded.rule for seeded in SEEDS.orders} == BRANCHES
    assert len(SEEDS.customers) >= 3
    ages = {TODAY - seeded.order.delivered_on for seeded in SEEDS.orders if seeded.order.delivered_on}
    assert {timedelta(days=30), timedelta(days=31)} <= ages
    assert {50_000, 50_001} <= {seeded.asks_cents for seeded in SEEDS.orders}
    statuses = {seeded.order.status for seeded in SEEDS.orders}
    assert statuses == {"pending", "processed", "shipped", "delivered", "cancelled"}
    partly = [s for s in SEEDS.orders if 0 < s.order.refunded_before_cents < s.order.paid_cents]
    assert partly
    assert any(s.order.refunded_before_cents == s.order.paid_cents for s in SEEDS.orders)
    assert any(s.asked_by != s.order.customer_id for s in SEEDS.orders)
    assert any(s.unknown_cents for s in SEEDS.orders)


def test_the_sandbox_tells_of_the_same_orders() -> None:
    told = seeded_orders(TODAY)
    assert [one.id for one in told] == [seeded.order.id for seeded in SEEDS.orders]
    for one, seeded in zip(told, SEEDS.orders, strict=True):
        assert (one.asked_by, one.say, one.expect, one.rule) == (
            seeded.asked_by,
            seeded.say,
            seeded.expect,
            seeded.rule,
        )
        day = seeded.order.delivered_on
        assert one.as_json["delivered_on"] == (day.isoformat() if day else None)
        assert one.as_json["paid_cents"] == seeded.order.paid_cents
    assert [one["id"] for one in seeded_customers()] == [customer.id for customer in SEEDS.customers]
    assert len(table(told)) == 3 * len(told)


class Kept:
    """A store that only counts."""

    def __init__(self) -> None:
        self.puts: list[tuple[int, int]] = []

    def put(self, customers: object, orders: object, /) -> None:
        assert isinstance(customers, tuple)
        assert isinstance(orders, list)
        self.puts.append((len(customers), len(orders)))


def test_planting_twice_leaves_one_lost_refund_and_one_resolved_stays_resolved() -> None:
    database = FakeDatabase()
    turns, ledger, kept = FakeTurns(database, FakeClock()), FakeLedger(database), Kept()
    plant(SEEDS, store=kept, turns=turns, ledger=ledger)
    (record,) = database.refunds.values()
    assert (record.state, record.order_id, record.amount_cents) == ("unknown", "ORD-1012", 7_900)
    assert turns.ended([record.turn_id]) == {record.turn_id}

    resolved = RefundRecord(record.turn_id, "not_sent", record.order_id, record.amount_cents)
    database.refunds[record.turn_id] = resolved
    plant(SEEDS, store=kept, turns=turns, ledger=ledger)
    assert database.refunds == {record.turn_id: resolved}
    assert kept.puts == [(len(SEEDS.customers), len(SEEDS.orders))] * 2
