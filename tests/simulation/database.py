"""The real tables in an in-memory SQLite, in virtual time, with every commit seen and every fault possible.

Each transaction is atomic and the scheduler may do anything just before and just after it. What a
transaction changed is reported by triggers, and told to the witness only if it was committed.
"""

import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Protocol

from sqlalchemy import Connection, event
from sqlalchemy.schema import CreateIndex, CreateTable

from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_support_tables import metadata
from refund_agent.ports import StoreUnavailable
from tests.simulation.stage import Stage

_TURN_COLUMNS = "id, state, epoch, owner, completions_used, attempts, refund_attempted, transcript, outcome, \
reply, idempotency_key, deadline_at_ms, lease_until_ms, conversation_id"
_REFUND_COLUMNS = "turn_id, state, epoch, call, order_id, amount_cents, refund_id, status, detail"
_APPROVAL_COLUMNS = (
    "id, state, customer_id, order_id, amount_cents, decided_by, expires_at_ms, conversation_id"
)
_CONVERSATION_COLUMNS = "id, customer_id, owner"
_WATCHED = {
    "turns": _TURN_COLUMNS,
    "refunds": _REFUND_COLUMNS,
    "approvals": _APPROVAL_COLUMNS,
    "conversations": _CONVERSATION_COLUMNS,
}


class Watcher(Protocol):
    """Is told what was committed."""

    def turn_written(self, *row: object) -> None:
        """A row of `turns` as it now stands, in the order of `_TURN_COLUMNS`."""

    def refund_written(self, *row: object) -> None:
        """A row of `refunds` as it now stands, in the order of `_REFUND_COLUMNS`."""

    def approval_written(self, *row: object) -> None:
        """A row of `approvals` as it now stands, in the order of `_APPROVAL_COLUMNS`."""

    def conversation_written(self, *row: object) -> None:
        """A row of `conversations` as it now stands, in the order of `_CONVERSATION_COLUMNS`."""

    def row_deleted(self, table: str, turn_id: str) -> None:
        """A row that should have stayed for ever."""


class SimulatedDatabase(Database):
    """A `Database` whose transactions are steps of the simulation."""

    def __init__(self, *, dropped: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__("sqlite://")
        self.stage: Stage
        self._seen: list[tuple[str, tuple[object, ...]]] = []
        self.watcher: Watcher | None = None
        event.listen(self.engine, "connect", self._prepare)
        self._connection = self.engine.connect()
        self._driver: Any = self._connection.connection.driver_connection
        self._make_tables(dropped)
        self.away_until = 0.0

    def _prepare(self, connection: sqlite3.Connection, _record: object) -> None:
        """Run after the production's own listener, and give the database virtual time."""
        connection.create_function("now_ms", 0, self._now_ms)
        for kind in (*(f"{table[:-1]}_written" for table in _WATCHED), "row_deleted"):
            connection.create_function(kind, -1, self._noter(kind))

    def _now_ms(self) -> int:
        return int(self.stage.scheduler.now * 1000)

    def _noter(self, kind: str) -> Callable[..., None]:
        def note(*row: object) -> None:
            self._seen.append((kind, row))

        return note

    def _make_tables(self, dropped: tuple[tuple[str, str], ...]) -> None:
        """Make the tables and indexes, less the pieces of their definitions that a guard's removal drops."""
        statements: list[str] = []
        for table in metadata.sorted_tables:
            statements.append(str(CreateTable(table).compile(self.engine)))
            statements += [
                str(CreateIndex(index).compile(self.engine)) for index in sorted(table.indexes, key=str)
            ]
        for old, new in dropped:
            assert sum(statement.count(old) for statement in statements) == 1, f"not in the tables: {old}"
            statements = [statement.replace(old, new) for statement in statements]
        for table_name, columns in _WATCHED.items():
            written = f"{table_name[:-1]}_written"
            new_row = ", ".join(f"NEW.{column.strip()}" for column in columns.split(","))
            key = columns.split(",")[0]
            statements += [
                f"CREATE TRIGGER {table_name}_{verb} AFTER {verb} ON {table_name} "
                f"BEGIN SELECT {written}({new_row}); END"
                for verb in ("INSERT", "UPDATE")
            ]
            statements.append(
                f"CREATE TRIGGER {table_name}_gone AFTER DELETE ON {table_name} "
                f"BEGIN SELECT row_deleted('{table_name}', OLD.{key}); END"
            )
        for statement in statements:
            self._connection.exec_driver_sql(statement)
        self._connection.commit()

    @contextmanager
    def statement(self, *, read_only: bool = False) -> Generator[Connection]:
        """Run one statement; a transaction of its own is the same here."""
        with self.transaction(read_only=read_only) as connection:
            yield connection

    @contextmanager
    def transaction(self, *, read_only: bool = False) -> Generator[Connection]:
        """Commit on leaving, roll back on an exception; the world may turn before and after."""
        self.stage.step("before a transaction")
        self._may_be_away()
        self._driver.execute("BEGIN")  # here, for every transaction and statement alike
        try:
            yield self._connection
        except BaseException:
            self._connection.rollback()
            self._seen.clear()
            raise
        self._connection.commit()
        seen, self._seen = self._seen, []
        if self.watcher:
            # The gate first: what ends a turn is judged by the gate that was closed in the same commit.
            for kind, row in sorted(seen, key=lambda written: written[0] == "turn_written"):
                getattr(self.watcher, kind)(*row)
        if self.stage.faults.strike("database away, answer of the commit lost"):
            self._fail("the answer of the commit was lost")
        self.stage.step("after a transaction")

    def _may_be_away(self) -> None:
        if self.stage.scheduler.now < self.away_until:
            self._fail("the database is away")
        if self.stage.faults.strike("database away before the commit"):
            self._fail("the database was away before the commit")

    def _fail(self, why: str) -> None:
        """Fail as the real one does: within three seconds."""
        stage = self.stage
        stage.scheduler.me().store_failures += 1
        stage.note(why)
        stage.trouble(stage.faults.seconds(0.01, 3.0))
        raise StoreUnavailable(why)

    def raw(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """Ask the database directly, as the witness does: no step, no fault."""
        rows: list[tuple[object, ...]] = self._driver.execute(statement, values).fetchall()
        return rows

    def by_the_world(self, statement: str, *values: object) -> None:
        """Write something that is not the service's doing; nobody is told."""
        self.raw(statement, *values)
        self._seen.clear()

    def set_up(self, stage: Stage, watcher: Watcher) -> None:
        """Begin an episode with empty tables."""
        self.stage, self.watcher, self.away_until = stage, None, 0.0
        for table in metadata.sorted_tables:
            self.raw(f"DELETE FROM {table.name}")  # noqa: S608 - the names of our own tables
        self._seen.clear()
        self.watcher = watcher
