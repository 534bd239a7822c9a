"""A refund that the policy refuses at its claim: nothing is sent, and it was no attempt."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import pytest

from refund_agent.eligibility import Eligibility
from refund_agent.orders import Order, OrdersUnavailable, Profile, Standing
from refund_agent.outcomes import CallPosition, RefundRecord
from refund_agent.policy import Approved, Denied
from refund_agent.turn import Turn
from tests.fake_tables import FakeDatabase
from tests.policy_cases import ORDER, SPLIT, TODAY
from tests.unit.desk import Desk


@dataclass
class Shop:
    """Orders in a shop's own service, with our ledger beside; `is_away` is silence."""

    database: FakeDatabase
    order: Order | None = ORDER
    is_away: bool = False

    def find_for_staff(self, order_id: str) -> Order | None:
        if self.is_away:
            raise OrdersUnavailable("away")
        return self.order if self.order is not None and self.order.id == order_id else None

    def find(self, customer_id: str, order_id: str) -> Order | None:
        order = self.find_for_staff(order_id)
        return order if order is not None and order.customer_id == customer_id else None

    def list(self, customer_id: str, *, limit: int) -> Sequence[Order]:
        order = self.find(customer_id, ORDER.id)
        return [order][:limit] if order else []

    def profile(self, customer_id: str) -> Profile | None:
        return Profile(customer_id, "", "")

    def standing(self, order_ids: Collection[str]) -> Standing:
        return Standing(TODAY, {order_id: self.database.refunds_of(order_id) for order_id in order_ids})


@pytest.fixture
def shop(desk: Desk) -> Shop:
    return Shop(desk.database)


def asking(shop: Shop) -> Eligibility:
    return Eligibility(orders=shop, refunds=shop, rules=SPLIT, orders_are_ours=False)


def issue(desk: Desk, shop: Shop, turn: Turn, cents: int, *, customer_id: str = "c-1") -> object:
    return desk.refunds.issue(
        turn,
        call=CallPosition(1, 0),
        order_id="A1",
        amount_cents=cents,
        make_check=lambda: asking(shop).make_claim_check(customer_id, "A1", cents),
    )


@pytest.mark.fault(268)
def test_a_refusal_is_told_and_the_turn_may_still_refund_what_is_allowed(desk: Desk, shop: Shop) -> None:
    turn = desk.begin()
    answer = issue(desk, shop, turn, 80_001)
    assert answer == {"error": "not sent: The amount must be more than nothing and at most 800.00 EUR."}
    assert (turn.refund_attempted, desk.payments.requests, desk.database.refunds) == (False, [], {})
    assert issue(desk, shop, turn, 50_000) == {
        "refund_id": "re-1",
        "status": "succeeded",
        "amount_cents": 50_000,
    }
    assert desk.payments.moved == [("A1", 50_000)]


@pytest.mark.fault(267)
def test_somebody_elses_order_is_not_found_and_nothing_is_sent(desk: Desk, shop: Shop) -> None:
    answer = issue(desk, shop, desk.begin(), 100, customer_id="c-2")
    assert answer == {"error": "not sent: Order not found."}
    assert desk.payments.requests == []


def test_what_needs_a_person_is_not_sent(desk: Desk, shop: Shop) -> None:
    answer = issue(desk, shop, desk.begin(), 50_001)
    assert answer == {"error": "not sent: More than 500.00 EUR needs a colleague's approval."}
    assert desk.payments.requests == []


def test_orders_that_cannot_be_asked_are_never_eligible(desk: Desk, shop: Shop) -> None:
    turn = desk.begin()
    shop.is_away = True
    with pytest.raises(OrdersUnavailable):
        issue(desk, shop, turn, 100)
    with pytest.raises(OrdersUnavailable):
        asking(shop).decide("c-1", "A1", 100)
    with pytest.raises(OrdersUnavailable):
        asking(shop).judged_orders("c-1", limit=10)
    assert (desk.payments.requests, desk.database.refunds) == ([], {})


@pytest.mark.fault(250)
def test_the_ledger_is_read_at_the_claim_and_not_when_the_check_was_made(desk: Desk, shop: Shop) -> None:
    first, second = desk.begin("turn-1"), desk.begin("turn-2")
    check = asking(shop).make_claim_check("c-1", "A1", 50_000)
    assert issue(desk, shop, first, 50_000) == {
        "refund_id": "re-1",
        "status": "succeeded",
        "amount_cents": 50_000,
    }
    answer = desk.refunds.issue(
        second, call=CallPosition(1, 0), order_id="A1", amount_cents=50_000, make_check=lambda: check
    )
    assert answer == {
        "error": "not sent: This order was already refunded on 2026-11-20: "
        "500.00 EUR of 800.00 EUR went back."
    }
    assert desk.payments.moved == [("A1", 50_000)]


def test_an_order_is_judged_for_all_that_is_left_of_it(desk: Desk, shop: Shop) -> None:
    desk.database.refunds["t"] = RefundRecord("t", "paid", "A1", 40_000, refund_id="re")
    (judged,) = asking(shop).judged_orders("c-1", limit=10)
    assert (judged.refundable_cents, judged.decision) == (40_000, Approved(40_000, "2026-11"))
    shop.order = replace(ORDER, final_sale=True)
    (judged,) = asking(shop).judged_orders("c-1", limit=10)
    assert isinstance(judged.decision, Denied)
    assert judged.decision.rule == "final_sale"
