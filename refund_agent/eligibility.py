"""What may be refunded of an order: the facts gathered, and the policy asked.

Asking moves nothing and promises nothing: the claim asks again, under its lock, by `make_claim_check`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from refund_agent.orders import Order, OrderRefunds, Orders
from refund_agent.policy import (
    Case,
    Decision,
    LockedFacts,
    PolicyCheck,
    RuleJudgement,
    Rules,
    decide,
    explain,
)


@dataclass(frozen=True, slots=True)
class JudgedOrder:
    """One of a customer's own orders, what is left of it, and the policy's word on refunding all of that."""

    order: Order
    refundable_cents: int
    decision: Decision


class Eligibility:
    """Asks the policy about orders wherever they are kept.

    `orders_are_ours`: they are rows of our own tables, which a claim reads again under its lock. A shop's
    own service cannot be locked: there the order is as it answered just before the claim, and what has
    been refunded comes from our ledger, under the lock.
    Any call may raise `OrdersUnavailable` or `StoreUnavailable`: then nothing is eligible.
    """

    def __init__(self, *, orders: Orders, refunds: OrderRefunds, rules: Rules, orders_are_ours: bool) -> None:
        self.rules = rules
        self._orders = orders
        self._refunds = refunds
        self._orders_are_ours = orders_are_ours

    def decide(self, customer_id: str, order_id: str, amount_cents: int) -> Decision:
        """Judge one refund as things stand now."""
        order = self._orders.find(customer_id, order_id)
        return decide(
            self._case(customer_id, order, order_id=order_id, amount_cents=amount_cents), self.rules
        )

    def explain(self, customer_id: str | None, order_id: str, amount_cents: int) -> Sequence[RuleJudgement]:
        """Return every rule's finding, for staff; without a customer the order's own is taken."""
        order = self._orders.find_for_staff(order_id)
        asking = customer_id if customer_id is not None else (order.customer_id if order else "")
        return explain(self._case(asking, order, order_id=order_id, amount_cents=amount_cents), self.rules)

    def judged_orders(self, customer_id: str, *, limit: int) -> Sequence[JudgedOrder]:
        """Return the customer's orders, each judged for all that is left of it."""
        orders = self._orders.list(customer_id, limit=limit)
        standing = self._refunds.standing([order.id for order in orders])

        def judge(order: Order) -> JudgedOrder:
            asked = Case(customer_id, order, 0, standing.today, standing.of(order.id))
            whole = Case(customer_id, order, asked.refundable_cents, standing.today, standing.of(order.id))
            return JudgedOrder(order, asked.refundable_cents, decide(whole, self.rules))

        return [judge(order) for order in orders]

    def make_claim_check(
        self, customer_id: str, order_id: str, amount_cents: int, *, approved_by_person: bool = False
    ) -> PolicyCheck:
        """Make the check that a claim runs inside its transaction; give it to the claim at once."""
        asked = None if self._orders_are_ours else self._orders.find(customer_id, order_id)

        def check(facts: LockedFacts) -> Decision:
            case = Case(
                customer_id=customer_id,
                order=facts.order if self._orders_are_ours else asked,
                amount_cents=amount_cents,
                today=facts.today,
                refunds=facts.refunds,
                approved_by_person=approved_by_person,
            )
            return decide(case, self.rules)

        return check

    def _case(self, customer_id: str, order: Order | None, *, order_id: str, amount_cents: int) -> Case:
        standing = self._refunds.standing([order_id])
        return Case(customer_id, order, amount_cents, standing.today, standing.of(order_id))
