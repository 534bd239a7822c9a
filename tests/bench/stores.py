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
FIRST_REDIS_DATABASE = 8
REDIS_DATABASES = 2


@contextmanager
def fresh_database(directory: Path) -> Generator[str]:
    """Give the URL of a database with all tables, made for this run and dropped after it."""
    with ExitStack() as after:
        url = f"sqlite:///{directory / 'bench.db'}"
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
    """Give URLs by number, each of an empty database of one Redis."""
    with ExitStack() as after:
        server = REDIS_SERVER or after.enter_context(embedded_redis())

        def url(number: int) -> str:
            return urlunsplit(urlsplit(server)._replace(path=f"/{FIRST_REDIS_DATABASE + number}"))

        def flush() -> None:
            for number in range(REDIS_DATABASES):
                with redis.Redis.from_url(url(number)) as client:
                    client.flushdb()

        flush()
        after.callback(flush)
        yield url


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
