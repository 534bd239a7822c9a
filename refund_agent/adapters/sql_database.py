"""One database for the turns and the ledger: PostgreSQL, or SQLite where nothing else is at hand.

Every transaction is short, and every step of it ends in time: see `sql_wall`.
"""

import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import BigInteger, Connection, Engine, Table, create_engine, event, make_url, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DisconnectionError, InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.pool import QueuePool
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from refund_agent.adapters.sql_wall import WalledConnection
from refund_agent.ports import StoreUnavailable

POOL_SIZE = 10
POOL_SECONDS = 0.8
"""With the two seconds to connect, a request learns within three that the database is away."""
SQLITE_TURN_SECONDS = 1.5
SQLITE_LOCK_SECONDS = 1.4
IDLE_SECONDS_BEFORE_PING = 5.0

AWAY = (OperationalError, InterfaceError, InternalError, PoolTimeout)
"""What a database raises that cannot be asked now. `InternalError`: it has become read-only in a failover,
or has ended a session that was idle for too long."""


class now_ms(FunctionElement[int]):  # noqa: N801 - reads as the SQL function it is
    """Database time in whole milliseconds, as an SQL expression."""

    type = BigInteger()
    inherit_cache = True


@compiles(now_ms, "postgresql")
def _now_ms_on_postgresql(_element: object, _compiler: SQLCompiler, **_: Any) -> str:  # noqa: ANN401 - SQLAlchemy's own signature
    return "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)"


@compiles(now_ms, "sqlite")
def _now_ms_on_sqlite(_element: object, _compiler: SQLCompiler, **_: Any) -> str:  # noqa: ANN401 - SQLAlchemy's own signature
    return "now_ms()"


def normalised_url(url: str) -> str:
    """Accept the forms that platforms hand out, such as Heroku's `postgres://`."""
    for prefix in ("postgres://", "postgresql://"):
        if url.startswith(prefix):
            return "postgresql+psycopg://" + url.removeprefix(prefix)
    return url


class Database:
    """Opens short transactions. Every failure to reach the database is `StoreUnavailable`."""

    def __init__(self, url: str, *, pool_size: int = POOL_SIZE) -> None:
        self.engine = _engine(normalised_url(url), pool_size)
        self.is_postgresql = self.engine.dialect.name == "postgresql"

    @contextmanager
    def transaction(self, *, read_only: bool = False) -> Generator[Connection]:
        """Commit on leaving, roll back on an exception. Keep it short: statements and nothing else."""
        with self.statement() as connection:
            connection.execution_options(read_only=read_only)
            if self.is_postgresql:
                connection.execution_options(isolation_level="READ COMMITTED")
            with connection.begin():
                yield connection

    @contextmanager
    def statement(self) -> Generator[Connection]:
        """Run statements without the journeys of a BEGIN and a COMMIT.

        Each statement in the block is a transaction of its own: several may see different moments.
        """
        try:
            with self.engine.connect() as connection:
                yield connection
        except AWAY as error:
            raise StoreUnavailable(type(error).__name__) from error

    def insert_or_ignore(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """Build an INSERT that yields to whichever row was there first."""
        if self.is_postgresql:
            return postgresql.insert(table).on_conflict_do_nothing()
        return sqlite.insert(table).on_conflict_do_nothing()

    def probe(self) -> None:
        """Ask for nothing but an answer; raise `StoreUnavailable`."""
        with self.transaction(read_only=True) as tx:
            tx.execute(select(1))

    def close(self) -> None:
        """Give every pooled connection back."""
        self.engine.dispose()


def _engine(url: str, pool_size: int) -> Engine:
    """Build the engine; connects to nothing yet. An error's text never holds what a statement was given."""
    if make_url(url).get_backend_name() == "sqlite":
        engine = create_engine(
            url,
            hide_parameters=True,
            connect_args={"timeout": SQLITE_LOCK_SECONDS},
            **_one_at_a_time(url),
        )
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    engine = create_engine(
        url,
        hide_parameters=True,
        isolation_level="AUTOCOMMIT",  # see `Database.statement`
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=POOL_SECONDS,
        pool_use_lifo=True,
    )
    event.listen(engine, "do_connect", _connect_walled)
    event.listen(engine, "checkin", _note_the_time)
    event.listen(engine, "checkout", _ping_when_stale)
    return engine


def _one_at_a_time(url: str) -> dict[str, Any]:
    """Let a process's threads wait for its one connection, which is fair, and not for the file, which is not.

    SQLite takes one writer at a time, and whoever waits for the file looks again now and then: among a
    hundred that look, one can miss every chance. A database in memory has a connection a thread.
    """
    if make_url(url).database in (None, "", ":memory:"):
        return {}
    return {"poolclass": QueuePool, "pool_size": 1, "max_overflow": 0, "pool_timeout": SQLITE_TURN_SECONDS}


def _connect_walled(_dialect: object, _record: object, _args: object, parameters: dict[str, Any]) -> object:
    """Connect within two seconds (psycopg's minimum), with limits on both sides of the wire."""
    limits: dict[str, Any] = {
        **parameters,
        "connect_timeout": 2,
        "tcp_user_timeout": 3000,
        "application_name": "refund-agent",
        "options": "-c lock_timeout=1000 -c idle_in_transaction_session_timeout=5000",
    }
    return WalledConnection.connect(**limits)


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by `_begin_sqlite`, not by the driver
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")  # a claim that a power cut can undo is no claim
    connection.create_function("now_ms", 0, lambda: time.time_ns() // 1_000_000)


def _begin_sqlite(connection: Connection) -> None:
    """Take the write lock at once: a transaction that reads first and then writes would fail, not wait."""
    read_only = connection.get_execution_options().get("read_only")
    if read_only is not None:  # else it is a single statement
        connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")


def _note_the_time(_connection: object, record: Any) -> None:  # noqa: ANN401 - SQLAlchemy's own type is private
    record.info["idle_since"] = time.monotonic()


def _ping_when_stale(connection: Any, record: Any, _proxy: object) -> None:  # noqa: ANN401 - a psycopg connection and SQLAlchemy's record
    """Replace a connection that died while it lay in the pool; a busy one is not asked."""
    idle_since = record.info.get("idle_since")
    if idle_since is None or time.monotonic() - idle_since < IDLE_SECONDS_BEFORE_PING:
        return
    try:
        connection.execute("SELECT 1")
        connection.rollback()
    except Exception as error:
        raise DisconnectionError from error
