"""The whole service as processes: web and worker over one database and one Redis."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox.embedded_redis import free_port
from sandbox.processes import Process, web_answers


@dataclass(frozen=True)
class Service:
    """A running service; `url` is the web's."""

    url: str
    web: Process
    worker: Process


@contextmanager
def service(env: Mapping[str, str], *, logs: Path, port: int = 0) -> Generator[Service]:
    """Run web and worker with these settings until the context closes; the tables must exist."""
    number = port or free_port()
    url = f"http://127.0.0.1:{number}"
    own = {**env, "PORT": str(number)}
    worker = Process("worker", env=own, log=logs / "worker.log")
    try:
        web = Process("web", env=own, log=logs / "web.log")
        try:
            web.wait_until(lambda: web_answers(url))
            yield Service(url, web, worker)
        finally:
            web.stop()
    finally:
        worker.stop()
