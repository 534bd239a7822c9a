"""A service on rough ground: its Redis can be frozen or lost, and its web reaches it through a proxy."""

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import make_url

from sandbox.model import Model
from sandbox.payments import Payments
from tests.functional.fragile_redis import FragileRedis
from tests.functional.proxy import TcpProxy
from tests.functional.stand import Stand, run_stand

PATIENT = {
    "COMPLETION_TIMEOUT_SECONDS": "30",
    "BACKOFF_SECONDS": "0.1",
    "PAYMENTS_TIMEOUT_SECONDS": "2",
    "TURN_DEADLINE_SECONDS": "32",
    "WORKER_CONCURRENCY": "220",
}
"""Room for 200 turns at once, and a lease of 4 s."""


@dataclass(frozen=True)
class Rough:
    """The worker stands on `redis` and on the database directly, the web behind the proxies.

    `way_to_database` is None on SQLite, which is a file.
    """

    stand: Stand
    redis: FragileRedis
    way_to_redis: TcpProxy
    way_to_database: TcpProxy | None

    def heal(self) -> None:
        """Make everything work again."""
        self.redis.thaw()
        self.way_to_redis.heal()
        if self.way_to_database is not None:
            self.way_to_database.heal()
        self.stand.let_worker_go_on()


@contextmanager
def run_rough(
    env: dict[str, str], *, make_database: Callable[[], str], model: Model, payments: Payments, logs: Path
) -> Generator[Rough]:
    """Start the service and its own Redis."""
    database = make_url(make_database())
    with ExitStack() as stack:
        redis = stack.enter_context(FragileRedis())
        way_to_redis = stack.enter_context(TcpProxy(redis.port))
        web_env = {"REDIS_URL": f"redis://127.0.0.1:{way_to_redis.port}/0"}
        way_to_database = None
        if database.get_backend_name() != "sqlite":
            way_to_database = stack.enter_context(TcpProxy(database.port or 5432))
            seen = database.set(host="127.0.0.1", port=way_to_database.port)
            web_env["DATABASE_URL"] = seen.render_as_string(hide_password=False)
        stand = stack.enter_context(
            run_stand(
                {**env, **PATIENT},
                database_url=database.render_as_string(hide_password=False),
                redis_url=redis.url,
                model=model,
                payments=payments,
                logs=logs,
                web_env=web_env,
            )
        )
        yield Rough(stand, redis, way_to_redis, way_to_database)
