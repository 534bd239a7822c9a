"""Orders kept in our own tables, and the ledger asked by order."""

from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection, bindparam, select

from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_order_rows import (
    COUNTED,
    ORDER_COLUMNS,
    STANDING_COLUMNS,
    TODAY,
    read_day,
    read_order,
    read_refunds,
)
from refund_agent.adapters.sql_support_tables import customers, orders
from refund_agent.adapters.sql_tables import refunds
from refund_agent.orders import MAX_LISTED, Order, OrdersUnavailable, Profile, Standing
from refund_agent.ports import StoreUnavailable

_BY_ID = select(*ORDER_COLUMNS).where(orders.c.id == bindparam("order_id"))
# One question for both, so that somebody else's order takes no longer than one that does not exist.
_OWN = _BY_ID.where(orders.c.customer_id == bindparam("customer_id"))
_LISTED = (
    select(*ORDER_COLUMNS)
    .where(orders.c.customer_id == bindparam("customer_id"))
    .order_by(orders.c.delivered_on.is_(None), orders.c.delivered_on.desc(), orders.c.id)
    .limit(bindparam("most"))
)
_CUSTOMER = select(customers.c.id, customers.c.name, customers.c.email).where(
    customers.c.id == bindparam("customer_id")
)
_STANDING = (
    select(refunds.c.order_id, *STANDING_COLUMNS)
    .where(refunds.c.order_id.in_(bindparam("order_ids", expanding=True)), COUNTED)
    .group_by(refunds.c.order_id)
)


class SqlOrders:
    """Implements the port `Orders`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, customer_id: str, order_id: str) -> Order | None:
        """Return the customer's own order, or None."""
        with self._asking() as one:
            row = one.execute(_OWN, {"customer_id": customer_id, "order_id": order_id}).one_or_none()
        return None if row is None else read_order(row)

    def list(self, customer_id: str, *, limit: int) -> Sequence[Order]:
        """Return at most `limit` of the customer's own orders, the latest delivered first."""
        asked = {"customer_id": customer_id, "most": min(limit, MAX_LISTED)}
        with self._asking() as one:
            return [read_order(row) for row in one.execute(_LISTED, asked)]

    def profile(self, customer_id: str) -> Profile | None:
        """Return who this is, or None."""
        with self._asking() as one:
            row = one.execute(_CUSTOMER, {"customer_id": customer_id}).one_or_none()
        return None if row is None else Profile(*row)

    def find_for_staff(self, order_id: str) -> Order | None:
        """Return an order whoever owns it. Never for a customer's turn."""
        with self._asking() as one:
            row = one.execute(_BY_ID, {"order_id": order_id}).one_or_none()
        return None if row is None else read_order(row)

    @contextmanager
    def _asking(self) -> Generator[Connection]:
        try:
            with self._database.statement() as one:
                yield one
        except StoreUnavailable as error:
            raise OrdersUnavailable(str(error)) from error


class SqlOrderRefunds:
    """Implements the port `OrderRefunds`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def standing(self, order_ids: Collection[str]) -> Standing:
        """Return what has been refunded of these orders, and what day it is."""
        with self._database.transaction(read_only=True) as tx:
            today = read_day(tx.execute(TODAY).scalar_one())
            rows = tx.execute(_STANDING, {"order_ids": sorted(order_ids)}).all()
        return Standing(today, {order_id: read_refunds(refunded) for order_id, *refunded in rows})
