"""The migrations make the very tables that the code knows, on the database of this run."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, inspect
from sqlalchemy.engine.interfaces import ReflectedIndex

from refund_agent.adapters.sql_database import Database, normalised_url
from refund_agent.adapters.sql_migration import HEAD, current_migration
from refund_agent.adapters.sql_support_tables import metadata

ROOT = Path(__file__).parents[2]


@pytest.fixture
def engine(make_database: Callable[[], str]) -> Iterator[Engine]:
    """Give a database without any table."""
    opened = create_engine(normalised_url(make_database()))
    metadata.drop_all(opened)
    yield opened
    opened.dispose()


@pytest.fixture
def config() -> Config:
    return Config(ROOT / "alembic.ini")


def migrate(engine: Engine, config: Config, *, to: str = "head") -> None:
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        (command.downgrade if to == "base" else command.upgrade)(config, to)


def conditions(index: ReflectedIndex) -> list[str]:
    """Return what a partial index is restricted to."""
    return [f"{name}: {value}" for name, value in sorted(index.get("dialect_options", {}).items())]


def shape(connection: Connection) -> dict[str, Any]:
    """Describe what autogenerate does not compare: checks, partial indexes, defaults, nullability."""
    seen = inspect(connection)
    return {
        table: {
            "columns": [
                (column["name"], str(column["type"]), column["nullable"], column["default"])
                for column in sorted(seen.get_columns(table), key=lambda column: column["name"])
            ],
            "checks": sorted(
                (str(check["name"]), check["sqltext"]) for check in seen.get_check_constraints(table)
            ),
            "indexes": sorted(
                (str(index["name"]), str(index["column_names"]), index["unique"], conditions(index))
                for index in seen.get_indexes(table)
            ),
            "keys": seen.get_pk_constraint(table)["constrained_columns"],
        }
        for table in sorted(metadata.tables)
    }


def test_the_migrations_make_the_tables_that_the_code_knows(engine: Engine, config: Config) -> None:
    migrate(engine, config)

    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_the_migrations_make_every_check_and_partial_index(engine: Engine, config: Config) -> None:
    metadata.create_all(engine)
    with engine.connect() as connection:
        known = shape(connection)
    metadata.drop_all(engine)

    migrate(engine, config)

    with engine.connect() as connection:
        assert shape(connection) == known


def test_the_migrations_can_be_taken_back(engine: Engine, config: Config) -> None:
    migrate(engine, config)
    migrate(engine, config, to="base")

    with engine.connect() as connection:
        assert set(inspect(connection).get_table_names()) <= {"alembic_version"}


def test_the_code_needs_the_newest_revision(config: Config) -> None:
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


def test_a_migrated_database_is_at_the_revision_that_the_code_needs(engine: Engine, config: Config) -> None:
    migrate(engine, config)

    database = Database(engine.url.render_as_string(hide_password=False))
    assert current_migration(database) == HEAD
    database.close()
