"""The record of reveals in SQL."""

import uuid
from collections.abc import Sequence

from sqlalchemy import insert, select

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_support_tables import reveals
from refund_agent.identity import Staff
from refund_agent.reveals import Reveal


class SqlReveals:
    """Implements the port `Reveals`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, staff: Staff, what: str) -> None:
        """Record that this member of staff is about to be shown everything of this."""
        row = {"id": str(uuid.uuid4()), "staff_id": staff.id, "staff_name": staff.name, "what": what}
        with self._database.transaction() as tx:
            tx.execute(insert(reveals).values(**row, at_ms=now_ms()))

    def recent(self, *, limit: int) -> Sequence[Reveal]:
        """Return the newest, newest first."""
        columns = (reveals.c.staff_id, reveals.c.staff_name, reveals.c.what, reveals.c.at_ms)
        newest = select(*columns).order_by(reveals.c.at_ms.desc(), reveals.c.id).limit(limit)
        with self._database.statement() as one:
            return [Reveal(*row) for row in one.execute(newest)]
