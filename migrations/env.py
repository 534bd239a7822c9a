"""Runs the migrations against DATABASE_URL, or against a connection handed over by a test."""

from alembic import context
from sqlalchemy import NullPool, create_engine

from refund_agent.adapters.sql_database import normalised_url
from refund_agent.adapters.sql_support_tables import metadata
from refund_agent.settings import read_settings


def _run() -> None:
    connection = context.config.attributes.get("connection")
    if connection is not None:
        context.configure(connection=connection, target_metadata=metadata)
        with context.begin_transaction():
            context.run_migrations()
        return
    # An engine of its own: a migration may take longer than a transaction of the service ever may.
    engine = create_engine(normalised_url(read_settings().database_url), poolclass=NullPool)
    with engine.begin() as own:
        context.configure(connection=own, target_metadata=metadata)
        context.run_migrations()


_run()
