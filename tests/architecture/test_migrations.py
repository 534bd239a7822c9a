"""The migrations make the very tables that the code knows, on the database of this run."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, inspect, select, text
from sqlalchemy.engine.interfaces import ReflectedIndex
from sqlalchemy.exc import DBAPIError

from refund_agent.adapters.sql_database import Database, normalised_url
from refund_agent.adapters.sql_entries import entry_id
from refund_agent.adapters.sql_journal import SqlEvents
from refund_agent.adapters.sql_ledger import SqlLedger
from refund_agent.adapters.sql_migration import HEAD, current_migration
from refund_agent.adapters.sql_support_tables import approvals, entries, metadata
from refund_agent.adapters.sql_turns import SqlTurns
from refund_agent.adapters.system_clock import SystemClock
from refund_agent.outcomes import CallPosition, Claimed, Paid, PaymentAnswer, RefundRecord, Unknown
from refund_agent.turn import NewTurn

ROOT = Path(__file__).parents[2]
APPROVED = {
    "turn_id": "t",
    "conversation_id": "c",
    "customer_id": "ada",
    "order_id": "A1",
    "amount_cents": 50_001,
    "arguments_hash": "",
    "reason": "",
    "policy_version": "",
    "state": "approved",
    "requested_at_ms": 1,
    "expires_at_ms": 2,
}


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
        current = MigrationContext.configure(connection).get_current_revision() or ""
        (command.downgrade if to == "base" or to < current else command.upgrade)(config, to)


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


def test_a_result_that_was_told_before_is_found_by_its_approval(engine: Engine, config: Config) -> None:
    """It was stored under a hash of the approval's id; looked for by another id it would be told twice."""
    migrate(engine, config, to="0005")
    approval = str(uuid.uuid4())
    told = {"conversation_id": "c", "kind": "refund", "author": "system", "text": "Not sent.", "at_ms": 1}
    hashed = entry_id(f"{approval}:result")
    with engine.begin() as tx:
        tx.execute(approvals.insert().values(APPROVED | {"id": approval}))
        tx.execute(entries.insert(), [told | {"id": one} for one in (hashed, "another")])

    migrate(engine, config)
    with engine.connect() as connection:
        assert set(connection.execute(select(entries.c.id)).scalars()) == {approval, "another"}

    migrate(engine, config, to="0005")
    with engine.connect() as connection:
        assert set(connection.execute(select(entries.c.id)).scalars()) == {hashed, "another"}


# --- What is written stays written ----------------------------------------------------------------


@pytest.fixture
def migrated(engine: Engine, config: Config) -> Iterator[Database]:
    migrate(engine, config)
    database = Database(engine.url.render_as_string(hide_password=False))
    yield database
    database.close()


def settled(database: Database, answer: PaymentAnswer) -> RefundRecord:
    """Return one refund of the real path: claimed, and settled with what payments answered."""
    turns = SqlTurns(database, clock=SystemClock(), deadline_seconds=120, lease_seconds=15)
    ledger = SqlLedger(database)
    turns.create(NewTurn("t-1", "user-1", "refund 5.00 for A1"))
    turn = turns.begin("t-1", owner="w1")
    assert turn is not None
    claim = ledger.claim(turn, call=CallPosition(1, 0), order_id="A1", amount_cents=500)
    assert isinstance(claim, Claimed)
    SqlEvents(database).append("t-1", "claim", {"order_id": "A1"})
    return ledger.settle(claim.record, epoch=turn.epoch, answer=answer)


@pytest.fixture
def paid(migrated: Database) -> RefundRecord:
    return settled(migrated, Paid("re-1", "ok", 500))


@pytest.mark.fault(260)
@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE refunds SET amount_cents = 1",
        "UPDATE refunds SET order_id = 'A2'",
        "UPDATE refunds SET turn_id = 't-2'",
        "UPDATE refunds SET state = 'claimed'",
        "UPDATE refunds SET state = 'not_sent'",
        "UPDATE refunds SET epoch = 9",
        "DELETE FROM refunds",
        "UPDATE events SET body = '{}'",
        "UPDATE events SET seq = seq + 1",
    ],
)
def test_the_database_refuses_to_rewrite_or_delete_what_happened(
    migrated: Database, paid: RefundRecord, tampering: str
) -> None:
    with pytest.raises(DBAPIError, match="kept as they were written"), migrated.transaction() as tx:
        tx.execute(text(tampering))
    assert SqlLedger(migrated).find("t-1") == paid
    (event,) = SqlEvents(migrated).after("t-1", 0)
    assert event.body == {"order_id": "A1"}


@pytest.mark.parametrize("state", ["claimed", "closed"])
def test_the_database_refuses_to_make_an_unknown_refund_sendable_again(
    migrated: Database, state: str
) -> None:
    unknown = settled(migrated, Unknown("ReadTimeout"))

    with pytest.raises(DBAPIError, match="kept as they were written"), migrated.transaction() as tx:
        tx.execute(text("UPDATE refunds SET state = :state"), {"state": state})
    assert SqlLedger(migrated).find("t-1") == unknown


@pytest.mark.usefixtures("paid")
@pytest.mark.parametrize(
    "allowed",
    ["UPDATE refunds SET mirrored_state = state", "UPDATE refunds SET review = true", "DELETE FROM events"],
)
def test_what_the_service_writes_afterwards_is_let_through(migrated: Database, allowed: str) -> None:
    with migrated.transaction() as tx:
        assert tx.execute(text(allowed)).rowcount == 1
