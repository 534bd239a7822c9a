"""Writes customers and orders into our own tables: for a trial, never for production."""

from collections.abc import Sequence
from dataclasses import asdict

from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_support_tables import customers, orders
from refund_agent.orders import Order, Profile


class SqlSeeds:
    """Implements the port `SeedStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, those: Sequence[Profile], placed: Sequence[Order]) -> None:
        """Write these, over what was there under their ids, in one transaction."""
        with self._database.transaction() as tx:
            tx.execute(customers.delete().where(customers.c.id.in_([one.id for one in those])))
            tx.execute(orders.delete().where(orders.c.id.in_([order.id for order in placed])))
            tx.execute(customers.insert(), [asdict(one) for one in those])
            tx.execute(orders.insert(), [_columns(order) for order in placed])


def _columns(order: Order) -> dict[str, object]:
    day = None if order.delivered_on is None else order.delivered_on.isoformat()
    return {**asdict(order), "delivered_on": day}
