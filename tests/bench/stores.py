"""The database and the Redis of a run: real ones when they are named, else the embedded ones."""

import os
import uuid
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import redis
from sqlalchemy import create_engine, text

from refund_agent.adapters.sql_database import Database, normalised_url
from refund_agent.adapters.sql_support_tables import metadata
from sandbox.embedded_redis import embedded_redis

DATABASE_SERVER = os.environ.get("TEST_DATABASE_URL", "")  # noqa: TID251 - the same switch as the tests'
REDIS_SERVER = os.environ.get("TEST_REDIS_URL", "")  # noqa: TID251 - same
REDIS_DATABASES = range(1, 10)
"""The tests use those from 10 on."""
NEEDED_DATABASES = 3


@contextmanager
def fresh_database(directory: Path) -> Generator[str]:
    """Give the URL of a database with all tables, made for this run and dropped after it."""
    with ExitStack() as after:
        url = f"sqlite:///{directory / f'bench-{uuid.uuid4().hex[:12]}.db'}"
        if DATABASE_SERVER:
            engine = create_engine(normalised_url(DATABASE_SERVER), isolation_level="AUTOCOMMIT")
            server = after.enter_context(engine.connect())
            name = f"bench_{uuid.uuid4().hex[:12]}"
            server.execute(text(f"CREATE DATABASE {name}"))
            after.callback(lambda: server.execute(text(f"DROP DATABASE {name} WITH (FORCE)")))
            url = engine.url.set(database=name).render_as_string(hide_password=False)
        database = Database(url)
        metadata.create_all(database.engine)
        database.close()
        yield url


@contextmanager
def empty_redis() -> Generator[Callable[[int], str]]:
    """Give URLs by number, from 0, each of a database of one Redis that nobody else uses."""
    with ExitStack() as after:
        server = REDIS_SERVER or after.enter_context(embedded_redis())
        numbers = _unused_databases(server)

        def url(number: int) -> str:
            return urlunsplit(urlsplit(server)._replace(path=f"/{numbers[number]}"))

        def flush() -> None:
            for number in range(len(numbers)):
                with redis.Redis.from_url(url(number)) as client:
                    client.flushdb()

        after.callback(flush)
        yield url


def _unused_databases(server: str) -> list[int]:
    """Find databases without a key or a client: another run's queue would be flushed away, or emptied."""
    with redis.Redis.from_url(server) as client:
        used = {int(entry["db"]) for entry in client.client_list()}
        used |= {int(name.removeprefix("db")) for name in client.info("keyspace")}
    unused = [number for number in REDIS_DATABASES if number not in used]
    if len(unused) < NEEDED_DATABASES:
        raise RuntimeError(f"the Redis has fewer than {NEEDED_DATABASES} unused databases among 1 to 9")
    return unused[:NEEDED_DATABASES]


def versions(database_url: str, redis_url: str) -> str:
    """Name the database and the Redis with their versions."""
    database = Database(database_url)
    asked = "SHOW server_version" if database.is_postgresql else "SELECT sqlite_version()"
    with database.transaction(read_only=True) as tx:
        found = tx.execute(text(asked)).scalar_one()
    name = "PostgreSQL" if database.is_postgresql else "SQLite"
    database.close()
    with redis.Redis.from_url(redis_url) as client:
        server = client.info("server")
    kind = "valkey" if "valkey_version" in server else "redis"
    return f"{name} {str(found).split()[0]}, {kind.title()} {server[f'{kind}_version']}"
