"""What tests of every kind stand on: a database and a Redis, embedded or real.

Embedded: SQLite in a file and a Valkey from a wheel. With TEST_DATABASE_URL and TEST_REDIS_URL the same tests
run on those servers: in a database made for the run, and in a Redis database number that is flushed.
"""

import os
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
import redis
from sqlalchemy import create_engine, text

from refund_agent.adapters.sql_database import Database, normalised_url
from refund_agent.adapters.sql_support_tables import metadata
from sandbox.embedded_redis import embedded_redis

DATABASE_SERVER = os.environ.get("TEST_DATABASE_URL", "")  # noqa: TID251 - the test run's own switch
REDIS_SERVER = os.environ.get("TEST_REDIS_URL", "")  # noqa: TID251 - the test run's own switch
WORKER_NUMBER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))  # noqa: TID251 - same


@pytest.fixture(scope="session")
def make_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """Give a maker of databases: each call gives the URL of a new one, dropped after the run."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(fresh_database(tmp_path_factory.mktemp("db")))


@pytest.fixture(scope="session")
def database_server(make_database: Callable[[], str]) -> str:
    """Give the URL of a database with all tables, made for this run and dropped after it."""
    return make_database()


@contextmanager
def fresh_database(folder: Path) -> Generator[str]:
    """Make a database: a SQLite file in `folder`, or one on the server that TEST_DATABASE_URL names."""
    if not DATABASE_SERVER:
        url = f"sqlite:///{folder / 'refunds.db'}"
        make_tables(url)
        yield url
        return
    server = create_engine(normalised_url(DATABASE_SERVER), isolation_level="AUTOCOMMIT")
    name = f"test_{uuid.uuid4().hex[:12]}"
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
        # A dozen running services keep ten connections each, and a server has a hundred: it closes what is
        # idle. The pool looks at a connection that lay for five seconds before it gives it out again.
        connection.execute(text(f"ALTER DATABASE {name} SET idle_session_timeout = '8s'"))
    url = server.url.set(database=name).render_as_string(hide_password=False)
    make_tables(url)
    yield url
    with server.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    server.dispose()


def make_tables(url: str) -> None:
    database = Database(url)
    metadata.create_all(database.engine)
    database.close()


@pytest.fixture
def database_url(database_server: str) -> Iterator[str]:
    """Give the database, empty again after the test."""
    yield database_server
    database = Database(database_server)
    with database.transaction() as tx:
        for table in metadata.sorted_tables:
            tx.execute(table.delete())
    database.close()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    opened = Database(database_url)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """Give the URL of a Redis that belongs to this run alone."""
    if REDIS_SERVER:
        server = urlsplit(REDIS_SERVER)
        yield urlunsplit(server._replace(path=f"/{10 + WORKER_NUMBER}"))
        return
    with embedded_redis() as url:
        yield url


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """Give the Redis, flushed before the test."""
    with redis.Redis.from_url(redis_server) as client:
        client.flushdb()
    return redis_server


@pytest.fixture
def redis_client(redis_url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_url) as client:
        yield client
