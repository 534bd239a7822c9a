"""Which migration the database is at, and which the code needs."""

from sqlalchemy import inspect, text

from refund_agent.adapters.sql_database import Database

HEAD = "0009"
"""The newest revision in `migrations/versions`; a test holds the two together."""


def current_migration(database: Database) -> str | None:
    """Return the database's revision, or None before the first; raise `StoreUnavailable`."""
    with database.transaction(read_only=True) as tx:
        if not inspect(tx).has_table("alembic_version"):
            return None
        revision: str | None = tx.execute(
            text("SELECT version_num FROM alembic_version")
        ).scalar_one_or_none()
        return revision
