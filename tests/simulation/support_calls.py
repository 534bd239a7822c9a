"""The calls of a model that uses all six tools as it pleases, and what it says to the customer."""

import json
import random
from collections.abc import Callable

from refund_agent.support_agent import HAND_OVER_MARK, WAITING_MARK
from refund_agent.turn import ToolCall
from tests.simulation.hostile_calls import OTHER_NAMES, STRANGE_ORDERS, Asked, Calls
from tests.simulation.support_shop import Shop

READING = ("get_my_profile", "list_orders", "get_order", "check_refund_eligibility")
TEXTS = (
    "",
    "Which order is it about?",
    "I have refunded 49.99 EUR to you.",
    "Your refund of 500.01 was sent. Anything else?",
    "Ihr Geld ist unterwegs.",
    "Su reembolso ha sido procesado: 89.00.",
    "The refund is complete, reference re-77.",
    "I could not refund this order.",
    "Please tell issue_refund the order_id.",
    f"{{{HAND_OVER_MARK}, {WAITING_MARK}1}}",
)


class SupportCalls(Calls):
    """Remembers every valid refund that a turn's model asked for, and every one that a person approved."""

    def __init__(self, rng: random.Random, shop: Shop) -> None:
        super().__init__(rng, orders=1)
        self._shop = shop
        self._orders = [order.id for order in shop.orders]
        self._of_turn: dict[str, list[Asked]] = {}
        self.customer_of: Callable[[str], str] = str

    def arguments(self, turn_id: str, completion: int, *, may_run: bool) -> str:
        """Ask for a refund: mostly of an order of the customer's own, mostly near a border of the policy."""
        order_id, amount_cents = self._order_and_amount(turn_id)
        self._of_turn.setdefault(turn_id, []).append(
            Asked(turn_id, completion, order_id, amount_cents, may_run)
        )
        return json.dumps({"order_id": order_id, "amount_cents": amount_cents})

    def approved(self, approval_id: str, order_id: str, amount_cents: int) -> None:
        """A person approved this refund, and nothing else, under this id."""
        self._of_turn[approval_id] = [Asked(approval_id, 0, order_id, amount_cents, may_run=True)]

    def who_asked(self, turn_id: str, order_id: str, amount_cents: int) -> Asked | None:
        """Return the first call of this turn that asked for just this and may run."""
        for asked in self._of_turn.get(turn_id, ()):
            if asked.may_run and (asked.order_id, asked.amount_cents) == (order_id, amount_cents):
                return asked
        return None

    def text(self) -> str:
        """Return something true, false, in other words, or in the code's own."""
        return " ".join(self._rng.choices(TEXTS, k=self._rng.choice((1, 1, 2, 3))))

    def calls(self, turn_id: str, completion: int, *, cut: bool) -> tuple[ToolCall, ...]:
        """Make the calls of one message."""
        rng = self._rng
        made: list[ToolCall] = []
        for number in range(rng.choice((1, 1, 1, 2, 3))):
            call_id, kind = f"{self.call_id()}{'.' * number}", rng.random()
            if kind < 0.5:
                arguments = self.arguments(turn_id, completion, may_run=not cut)
                made.append(ToolCall(call_id, "issue_refund", arguments))
            elif kind < 0.6:
                name = rng.choice((*READING, "escalate_to_human", "issue_refund"))
                made.append(ToolCall(call_id, name, self.bad_arguments()))
            elif kind < 0.65:
                arguments = self.arguments(turn_id, completion, may_run=False)
                made.append(ToolCall(call_id, rng.choice(OTHER_NAMES), arguments))
            elif kind < 0.66:
                made.append(ToolCall(call_id, "escalate_to_human", self._reason()))
            else:
                name = rng.choice(READING)
                made.append(ToolCall(call_id, name, self._reading(name, turn_id)))
        return tuple(made)

    def _reason(self) -> str:
        return json.dumps({"reason": self._rng.choice(("They ask for a person.", "I give up."))})

    def _reading(self, name: str, turn_id: str) -> str:
        order_id, amount_cents = self._order_and_amount(turn_id)
        asked: dict[str, object] = {}
        if name in {"get_order", "check_refund_eligibility"}:
            asked["order_id"] = order_id
        if name == "check_refund_eligibility":
            asked["amount_cents"] = amount_cents
        return json.dumps(asked)

    def _order_and_amount(self, turn_id: str) -> tuple[str, int]:
        rng, customer_id = self._rng, self.customer_of(turn_id)
        if rng.random() < 0.03:
            return rng.choice(STRANGE_ORDERS), 500
        orders = rng.choice((self._shop.orders, self._shop.promising))
        if rng.random() < 0.8:
            orders = [order for order in orders if order.customer_id == customer_id] or orders
        order = rng.choice(orders)
        paid = max(2, order.paid_cents)
        amount = rng.choice((1, paid // 2, paid // 2, paid, paid, paid, paid + 1, 50_000, 50_001))
        return order.id, amount
