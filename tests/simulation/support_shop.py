"""The shop of a support episode: customers, orders of every branch of the policy, and what befalls them."""

import random
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, date, datetime

from refund_agent.orders import Order, Profile, RefundsSoFar
from refund_agent.policy import Case, Rules
from refund_agent.seeds import read_seeds
from tests.policy_cases import RULES, contract_allows
from tests.simulation.database import SimulatedDatabase
from tests.simulation.lives import Lives

COPIES = 5
"""Of each seeded order: enough for a day's customers, few enough that they meet."""
MIDNIGHT = 20_000 * 86_400.0
"""An episode begins shortly before it, so that for some orders the last day of the window ends meanwhile."""
CHANGES: tuple[tuple[str, object], ...] = (
    ("status", "cancelled"),
    ("status", "shipped"),
    ("final_sale", 1),
    ("delivered_on", "2024-01-01"),
    ("customer_id", "cust-somebody-else"),
)


class Shop:
    """Orders in our own tables; the policy as the contract has it, written independently of the code."""

    def __init__(self, database: SimulatedDatabase, rng: random.Random, *, today: date) -> None:
        self._database = database
        self._rng = rng
        self.rules: Rules = replace(RULES, one_refund_per_order=rng.random() < 0.5)
        seeds = read_seeds(today)
        self.customers: Sequence[Profile] = seeds.customers
        copies = [
            (seeded.rule, replace(seeded.order, id=f"{seeded.order.id}-{copy}"))
            for seeded in seeds.orders
            for copy in range(COPIES)
        ]
        self.orders = [order for _, order in copies]
        self.promising = [order for rule, order in copies if rule in {"approved", "needs_approval"}]

    def open(self) -> None:
        """Write customers and orders into the tables."""
        for customer in self.customers:
            self._insert("customers", asdict(customer))
        for order in self.orders:
            day = None if order.delivered_on is None else order.delivered_on.isoformat()
            self._insert("orders", {**asdict(order), "delivered_on": day})

    def _insert(self, table: str, row: dict[str, object]) -> None:
        columns, marks = ", ".join(row), ", ".join("?" for _ in row)
        self._database.raw(f"INSERT INTO {table} ({columns}) VALUES ({marks})", *row.values())  # noqa: S608 - our own names

    def change(self, order_id: str) -> str:
        """Let something happen to an order that takes its refund away; return what."""
        column, value = self._rng.choice(CHANGES)
        self._database.by_the_world(f"UPDATE orders SET {column} = ? WHERE id = ?", value, order_id)  # noqa: S608 - our own names
        return f"{order_id}: {column} is now {value}"

    def allows(self, lives: Lives, turn_id: str, *, customer_id: str, by_person: bool) -> bool:
        """Whether the contract allows the refund that this turn has claimed, by the facts of now."""
        gate = lives.of[turn_id].gate
        assert gate is not None
        rules = replace(self.rules, escalate_above_cents=2**53) if by_person else self.rules
        others = [
            life.gate
            for life in lives.of.values()
            if life.gate is not None and life.id != turn_id and life.gate.order_id == gate.order_id
        ]
        so_far = RefundsSoFar(
            sum(other.amount_cents for other in others if other.state == "paid"),
            sum(other.amount_cents for other in others if other.state in {"claimed", "unknown"}),
        )
        today = datetime.fromtimestamp(lives.now, UTC).date()
        asked = Case(customer_id, self.find(gate.order_id), gate.amount_cents, today, so_far)
        return contract_allows(asked, rules)

    def find(self, order_id: str) -> Order | None:
        """Read an order as it stands, past the service."""
        row = self._database.raw(
            "SELECT id, customer_id, title, status, delivered_on, final_sale, currency, paid_cents, "
            "refunded_before_cents FROM orders WHERE id = ?",
            order_id,
        )
        if not row:
            return None
        one, owner, title, status, day, final, currency, paid, before = row[0]
        return Order(
            id=str(one),
            customer_id=str(owner),
            title=str(title),
            status=status,  # type: ignore[arg-type]  # the table's own check
            delivered_on=None if day is None else date.fromisoformat(str(day)),
            final_sale=bool(final),
            currency=str(currency),
            paid_cents=int(str(paid)),
            refunded_before_cents=int(str(before)),
        )
