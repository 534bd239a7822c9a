"""What was used, read from the turns table: the truth behind every counter in Redis."""

from sqlalchemy import func, select

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_rows import UNENDED
from refund_agent.adapters.sql_tables import turns

DAY_MS = 24 * 3600 * 1000


class SqlUsage:
    """Implements the port `StoredUsage`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open_turns(self) -> int:
        """Return how many turns have not ended. Those past their deadline cannot run and do not count.

        Nor do those that were put off: they wait for their time and not for a worker.
        """
        can_run = UNENDED & (turns.c.deadline_at_ms > now_ms())
        is_open = can_run & (func.coalesce(turns.c.queued_at_ms, 0) <= now_ms())
        with self._database.statement() as connection:
            return connection.execute(select(func.count()).select_from(turns).where(is_open)).scalar_one()

    def tokens_today(self, customer_id: str) -> int:
        """Return the tokens of the customer's support turns since midnight UTC, by database time."""
        midnight_ms = now_ms() - now_ms() % DAY_MS
        asked = select(func.coalesce(func.sum(turns.c.tokens_used), 0)).where(
            turns.c.user_id == customer_id, turns.c.agent == "support", turns.c.created_at_ms >= midnight_ms
        )
        with self._database.statement() as connection:
            return int(connection.execute(asked).scalar_one())
