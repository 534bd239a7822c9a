"""What staff look through, in SQL. A page is a fixed number of statements over a limited number of rows."""

from collections.abc import Mapping

from sqlalchemy import func, select

from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_inspection import is_stuck
from refund_agent.adapters.sql_support_tables import approvals, orders
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.casebook import QueueName

_WAITING = select(
    select(func.count()).where(approvals.c.state == "pending").scalar_subquery(),
    select(func.count()).where(refunds.c.state == "unknown").scalar_subquery(),
    select(func.count()).select_from(turns).where(is_stuck()).scalar_subquery(),
)


class SqlCasebook:
    """Implements the port `Casebook`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def waiting(self) -> Mapping[QueueName, int]:
        """Count what waits for a person, queue by queue."""
        with self._database.statement() as one:
            pending, unknown, stuck = one.execute(_WAITING).one()
        return {"approvals": pending, "unknown": unknown, "stuck": stuck}

    def currencies(self, order_ids: list[str]) -> Mapping[str, str]:
        """Return the currency of each of the orders that the database has."""
        asked = select(orders.c.id, orders.c.currency).where(orders.c.id.in_(order_ids))
        with self._database.statement() as one:
            return {str(order_id): str(currency) for order_id, currency in one.execute(asked)}
