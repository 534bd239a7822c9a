"""A running service per test process: real gunicorn, real Celery worker, real database and Redis."""

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit, urlunsplit

import pytest
import redis
import requests

from sandbox.http import serve
from sandbox.model import Model
from sandbox.payments import Payments
from tests.functional.rough import Rough, run_rough
from tests.functional.stand import Row, Stand, another_web, run_stand

API_KEY = "sk-key-of-the-tests"
PAYMENTS_TOKEN = "payments-token-of-the-tests"

USUAL = {
    "COMPLETION_TIMEOUT_SECONDS": "20",
    "BACKOFF_SECONDS": "0.1",
    "PAYMENTS_TIMEOUT_SECONDS": "1.5",
    "TURN_DEADLINE_SECONDS": "30",
}
"""Room for a busy machine; only payments that never answers is given up soon."""

QUICK = {
    "COMPLETION_TIMEOUT_SECONDS": "0.6",
    "BACKOFF_SECONDS": "0.5",
    "PAYMENTS_TIMEOUT_SECONDS": "0.8",
    "TURN_DEADLINE_SECONDS": "8",
}
"""The contract's four numbers, shortened, for the tests that wait for them."""

DEAD_END = "http://127.0.0.1:9"

HOSTILE = {
    "HTTP_PROXY": DEAD_END,
    "http_proxy": DEAD_END,
    "ALL_PROXY": DEAD_END,
    "OPENAI_ORG_ID": "org-of-somebody-else",
    "OPENAI_PROJECT_ID": "project-of-somebody-else",
}
"""What a machine's environment may hold, and the service must not heed."""


@pytest.fixture(scope="session")
def outside() -> Iterator[tuple[Model, Payments, dict[str, str]]]:
    """Serve both stand-ins; the environment that points a service at them comes with them."""
    model, payments = Model(), Payments()
    with serve(model) as model_server, serve(payments) as payments_server:
        env = {
            "OPENAI_BASE_URL": f"{model_server.url}/v1",
            "OPENAI_API_KEY": API_KEY,
            "PAYMENTS_URL": payments_server.url,
            "PAYMENTS_TOKEN": PAYMENTS_TOKEN,
        }
        yield model, payments, env


@pytest.fixture(scope="session")
def hostile_env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Give proxies, and a home with a .netrc for the very hosts that the service calls."""
    home = tmp_path_factory.mktemp("home")
    (home / ".netrc").write_text("machine 127.0.0.1 login somebody password else\n")
    (home / ".netrc").chmod(0o600)
    return {**HOSTILE, "HOME": str(home), "NETRC": str(home / ".netrc")}


def redis_beside(server: str, step: int) -> str:
    """Give an empty Redis database for one service alone.

    A running worker takes whatever turn it finds, also one that a test of the stores has put there.
    """
    number = int(urlsplit(server).path.strip("/"))
    beside = urlunsplit(urlsplit(server)._replace(path=f"/{(number + step) % 10}"))
    with redis.Redis.from_url(beside) as client:
        client.flushdb()
    return beside


@pytest.fixture(scope="session")
def running_stand(
    outside: tuple[Model, Payments, dict[str, str]],
    hostile_env: dict[str, str],
    make_database: Callable[[], str],
    redis_server: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stand]:
    model, payments, env = outside
    with run_stand(
        {**hostile_env, **env, **USUAL},
        database_url=make_database(),
        redis_url=redis_beside(redis_server, 2),
        model=model,
        payments=payments,
        logs=tmp_path_factory.mktemp("logs"),
    ) as stand:
        yield stand


@pytest.fixture
def stand(running_stand: Stand) -> Stand:
    """Give the running service, with nothing in it."""
    running_stand.forget()
    return running_stand


@pytest.fixture(scope="session")
def running_quick_stand(
    outside: tuple[Model, Payments, dict[str, str]],
    make_database: Callable[[], str],
    redis_server: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stand]:
    model, payments, env = outside
    with run_stand(
        {**env, **QUICK},
        database_url=make_database(),
        redis_url=redis_beside(redis_server, 5),
        model=model,
        payments=payments,
        logs=tmp_path_factory.mktemp("quick-logs"),
    ) as stand:
        yield stand


@pytest.fixture
def quick_stand(running_quick_stand: Stand) -> Stand:
    """Give a service with short times, with nothing in it."""
    running_quick_stand.forget()
    return running_quick_stand


@pytest.fixture(scope="session")
def running_short_stand(
    running_quick_stand: Stand, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stand]:
    log = tmp_path_factory.mktemp("short-logs") / "web.log"
    with another_web(running_quick_stand, log, TURN_DEADLINE_SECONDS="2.2") as short:
        yield short


@pytest.fixture
def short_stand(quick_stand: Stand, running_short_stand: Stand) -> Stand:
    """Give a second web process of that service, whose turns have 2.2 s."""
    return running_short_stand


@pytest.fixture(scope="session")
def running_rough(
    outside: tuple[Model, Payments, dict[str, str]],
    make_database: Callable[[], str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Rough]:
    model, payments, env = outside
    logs = tmp_path_factory.mktemp("rough-logs")
    with run_rough(env, make_database=make_database, model=model, payments=payments, logs=logs) as rough:
        yield rough


@pytest.fixture
def rough(running_rough: Rough) -> Iterator[Rough]:
    """Give a service whose Redis and database can fail, with nothing in it; all works again afterwards."""
    running_rough.stand.forget()
    yield running_rough
    running_rough.heal()


@pytest.fixture
def chat(stand: Stand) -> Callable[..., requests.Response]:
    return stand.chat


@pytest.fixture
def model(stand: Stand) -> Model:
    return stand.model


@pytest.fixture
def payments(stand: Stand) -> Payments:
    return stand.payments


@pytest.fixture
def ledger(stand: Stand) -> Callable[[str], Row | None]:
    """Give the ledger: a turn's id to its row."""
    return stand.gate
