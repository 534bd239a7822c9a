"""What is measured: the bare loop, this service, and what most people would write."""

import json
import subprocess
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import redis
import requests

from sandbox.embedded_redis import free_port
from sandbox.processes import NotReady, procfile_command
from sandbox.service import service
from tests.bench.drive import Driven, drive, http_caller
from tests.bench.started import first_lines, started
from tests.bench.stores import fresh_database

READY_SECONDS = 60.0
FORGETFUL = "tests.bench.forgetful"


@dataclass(frozen=True)
class Contender:
    """One of the three. `roots`: the process at the top of each role's tree."""

    key: str
    name: str
    roots: Mapping[str, int]
    drive: Callable[..., Driven]
    client: redis.Redis | None = None


@dataclass(frozen=True)
class Surroundings:
    """What the contenders are given."""

    model_url: str
    payments_url: str
    redis_url: Callable[[int], str]
    worker_concurrency: int
    plain_concurrency: int
    directory: Path


@contextmanager
def bare_loop(given: Surroundings) -> Generator[Contender]:
    """(a) The limit: the same calls in threads of one process."""
    module = ["python", "-m", "tests.bench.bare_process", given.model_url, given.payments_url]
    with started(module, log=given.directory / "bare.log", talks=True) as process:
        first_lines(process, "ready")
        yield Contender(
            "a", "bare loop (the limit)", {"worker": process.pid}, lambda **asked: _tell(process, asked)
        )


def _tell(process: subprocess.Popen[str], asked: Mapping[str, Any]) -> Driven:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(asked) + "\n")
    process.stdin.flush()
    return Driven(**json.loads(process.stdout.readline()))


@contextmanager
def this_service(given: Surroundings) -> Generator[Contender]:
    """(b) This service, by the lines of its Procfile: one web process, one worker process."""
    with fresh_database(given.directory) as database_url:
        env = _settings(given, database_url, given.redis_url(0))
        with _running("b", "this service", env, logs=given.directory) as contender:
            yield contender


@contextmanager
def forgetful_service(given: Surroundings) -> Generator[Contender]:
    """(d) This service without checkpoints, leases and sweeps, over tables of its own."""
    commands = {
        name: [part.replace("tasks.app", FORGETFUL).replace("web.wsgi", FORGETFUL) for part in line]
        for name, line in ((name, procfile_command(name)) for name in ("web", "worker"))
    }
    logs = given.directory / "forgetful"
    logs.mkdir()
    with fresh_database(given.directory) as database_url:
        env = _settings(given, database_url, given.redis_url(2))
        name = "this service without checkpoints, leases and sweeps"
        with _running("d", name, env, logs=logs, commands=commands) as contender:
            yield contender


def _settings(given: Surroundings, database_url: str, redis_url: str) -> dict[str, str]:
    return {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "OPENAI_BASE_URL": given.model_url,
        "OPENAI_API_KEY": "none",
        "PAYMENTS_URL": given.payments_url,
        "WORKER_CONCURRENCY": str(given.worker_concurrency),
    }


@contextmanager
def _running(key: str, name: str, env: dict[str, str], **how: Any) -> Generator[Contender]:
    with service(env, **how) as running, redis.Redis.from_url(env["REDIS_URL"]) as client:
        roots = {"web": running.web.pid, "worker": running.worker.pid}
        yield Contender(key, name, roots, _by_http(running.url, "/support/refund-chat"), client)


@contextmanager
def plain_app(given: Surroundings) -> Generator[Contender]:
    """(c) Flask, Celery prefork and `AsyncResult.get`."""
    redis_url, port = given.redis_url(1), free_port()
    env = {
        "BENCH_REDIS_URL": redis_url,
        "BENCH_MODEL_URL": given.model_url,
        "BENCH_PAYMENTS_URL": given.payments_url,
    }
    celery = ["celery", "--app=tests.bench.plain_app:worker", "--quiet", "worker"]
    celery += [f"--concurrency={given.plain_concurrency}", "--loglevel=WARNING"]
    gunicorn = ["gunicorn", f"--bind=127.0.0.1:{port}", "--worker-class=gthread", "--threads=220"]
    gunicorn += ["--no-control-socket", "tests.bench.plain_app:web"]
    with (
        started(celery, env=env, log=given.directory / "plain-worker.log") as worker,
        started(gunicorn, env=env, log=given.directory / "plain-web.log") as web,
        redis.Redis.from_url(redis_url) as client,
    ):
        url = f"http://127.0.0.1:{port}"
        _wait_for_a_worker(url, log=given.directory / "plain-worker.log")
        name = f"plain Flask + Celery prefork ({given.plain_concurrency}) + `AsyncResult.get`"
        yield Contender("c", name, {"web": web.pid, "worker": worker.pid}, _by_http(url, "/chat"), client)


def _by_http(url: str, path: str) -> Callable[..., Driven]:
    address = urlsplit(url)

    def over_http(**asked: Any) -> Driven:
        return drive(lambda: http_caller(str(address.hostname), int(address.port or 0), path), **asked)

    return over_http


def _wait_for_a_worker(url: str, *, log: Path) -> None:
    end = time.monotonic() + READY_SECONDS
    with requests.Session() as session:
        session.trust_env = False
        while time.monotonic() < end:
            try:
                if session.get(f"{url}/ready", timeout=10.0).json()["workers"]:
                    return
            except requests.RequestException:
                time.sleep(0.25)  # noqa: TID251 - a launcher waits in real time
    raise NotReady(f"the plain application did not come up:\n{log.read_text()[-2000:]}")
