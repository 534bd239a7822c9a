"""Order rows to values, and what the ledger says about an order: shared by reading and by claiming."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import ColumnElement, bindparam, case, func, select

from refund_agent.adapters.sql_database import now_ms
from refund_agent.adapters.sql_support_tables import orders
from refund_agent.adapters.sql_tables import refunds
from refund_agent.orders import Order, RefundsSoFar

ORDER_COLUMNS = (
    orders.c.id,
    orders.c.customer_id,
    orders.c.title,
    orders.c.status,
    orders.c.delivered_on,
    orders.c.final_sale,
    orders.c.currency,
    orders.c.paid_cents,
    orders.c.refunded_before_cents,
)
"""In the order of `Order`'s fields."""

LOCK_ORDER = select(*ORDER_COLUMNS).where(orders.c.id == bindparam("order_id")).with_for_update()
"""SQLite has no row locks, and needs none: its transactions begin with the write lock."""

TODAY = select(now_ms())

_UNCONFIRMED = refunds.c.state.in_(("claimed", "unknown"))
_PAID = refunds.c.state == "paid"


def _cents(which: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((which, refunds.c.amount_cents), else_=0)), 0)


STANDING_COLUMNS = (_cents(_PAID), _cents(_UNCONFIRMED), func.max(case((_PAID, refunds.c.settled_at_ms))))
"""In the order of `RefundsSoFar`'s fields."""
COUNTED = _PAID | _UNCONFIRMED

REFUNDS_OF_OTHERS = select(*STANDING_COLUMNS).where(
    refunds.c.order_id == bindparam("order_id"), COUNTED, refunds.c.turn_id != bindparam("turn_id")
)
"""What every other turn has refunded of an order. Give `order_id` and `turn_id`."""


def read_order(row: Sequence[Any]) -> Order:
    """Read a row selected by `ORDER_COLUMNS`."""
    order_id, customer_id, title, status, delivered_on, *money = row
    day = None if delivered_on is None else date.fromisoformat(delivered_on)
    return Order(order_id, customer_id, title, status, day, *money)


def read_refunds(row: Sequence[Any]) -> RefundsSoFar:
    """Read a row selected by `STANDING_COLUMNS`. A sum of big integers comes back as a decimal."""
    paid, unconfirmed, last_paid_at_ms = row
    return RefundsSoFar(
        int(paid), int(unconfirmed), None if last_paid_at_ms is None else read_day(last_paid_at_ms)
    )


def read_day(at_ms: int) -> date:
    """Return the day, in UTC, of a moment of database time."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).date()
