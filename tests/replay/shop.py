"""The real tools, policy, ledger and payments call over the benchmark's orders; no model."""

import json
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from refund_agent.adapters.http_payments import HttpPayments
from refund_agent.adapters.sql_approvals import SqlApprovals
from refund_agent.adapters.sql_conversations import SqlConversations
from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_ledger import SqlLedger
from refund_agent.adapters.sql_orders import SqlOrderRefunds, SqlOrders
from refund_agent.adapters.sql_seeds import SqlSeeds
from refund_agent.adapters.sql_support_tables import metadata
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.adapters.sql_turns import SqlTurns
from refund_agent.adapters.system_clock import SystemClock
from refund_agent.eligibility import Eligibility
from refund_agent.orders import Order, Profile
from refund_agent.outcomes import CallPosition, Superseded
from refund_agent.policy_file import load_rules
from refund_agent.refunds import Refunds
from refund_agent.support_tools import SupportTools
from refund_agent.tools import Toolbox
from refund_agent.turn import NewTurn, ToolCall
from sandbox.http import serve
from sandbox.payments import Payments
from tests.fakes import FakeAudit, FakeHints

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Case:
    """One refund of the benchmark."""

    customer_id: str
    order_id: str
    amount_cents: int
    paid_cents: int


@dataclass
class Shop:
    """A shop whose customers ask by tool calls alone."""

    database: Database
    turns: SqlTurns
    toolbox: Toolbox
    payments: Payments
    errors: list[str] = field(default_factory=list)

    def ask(self, customer_id: str, order_id: str, amount_cents: int) -> dict[str, Any]:
        """Call `issue_refund` once, in a turn of its own, and return what the model would be told."""
        turn_id = str(uuid.uuid4())
        self.turns.create(NewTurn(turn_id, customer_id, "", agent="support", conversation_id=turn_id))
        turn = self.turns.begin(turn_id, owner="replay")
        assert turn is not None
        arguments = json.dumps({"order_id": order_id, "amount_cents": amount_cents})
        result = self.toolbox.answer(turn, CallPosition(1, 0), ToolCall("c", "issue_refund", arguments))
        assert not isinstance(result, Superseded)
        told: dict[str, Any] = json.loads(result.content)
        return told

    def forget_refunds(self) -> None:
        """Start from a fresh state, as every task of the benchmark does."""
        with self.database.transaction() as tx:
            tx.execute(refunds.delete())
            tx.execute(turns.delete())
        self.payments.reset()


@contextmanager
def shop(url: str, *, one_refund_per_order: bool = True) -> Generator[Shop]:
    """Open the shop over a database that has no other orders."""
    database = Database(url)
    metadata.create_all(database.engine)
    SqlSeeds(database).put(*_stock())
    clock, payments = SystemClock(), Payments()
    rules = replace(load_rules(DATA / "2026-11.toml"), one_refund_per_order=one_refund_per_order)
    with serve(payments) as server:
        orders = SqlOrders(database)
        toolbox = SupportTools(
            orders=orders,
            eligibility=Eligibility(
                orders=orders, refunds=SqlOrderRefunds(database), rules=rules, orders_are_ours=True
            ),
            refunds=Refunds(
                ledger=SqlLedger(database),
                payments=HttpPayments(server.url, "", 10.0),
                audit=FakeAudit(),
                hints=FakeHints(),
                clock=clock,
                payments_timeout_seconds=10.0,
            ),
            approvals=SqlApprovals(database),
            conversations=SqlConversations(database),
        ).toolbox()
        yield Shop(
            database,
            SqlTurns(database, clock=clock, deadline_seconds=120, lease_seconds=15),
            toolbox,
            payments,
        )
    database.close()


def cases() -> list[Case]:
    """Return the benchmark's refunds."""
    rows = json.loads((DATA / "retail_refund_cases.json").read_text())
    return [Case(row["user_id"], row["order_id"], row["amount_cents"], row["paid_cents"]) for row in rows]


def orders_of_a_wrong_status() -> list[Order]:
    """Return the orders that can neither be returned nor cancelled."""
    return [order for order in _stock()[1] if order.status in {"processed", "cancelled"}]


def _stock() -> tuple[list[Profile], list[Order]]:
    rows = json.loads((DATA / "retail_orders.json").read_text())
    today = date.today()  # noqa: DTZ011 - any day will do: the replay's window is a hundred years
    placed = [
        Order(
            id=row["order_id"],
            customer_id=row["user_id"],
            title="",
            status=row["status"],
            delivered_on=today if row["status"] == "delivered" else None,
            final_sale=False,
            currency="USD",
            paid_cents=row["paid_cents"],
            refunded_before_cents=row["refunded_cents"],
        )
        for row in rows
    ]
    return [Profile(name, name, "") for name in sorted({order.customer_id for order in placed})], placed
