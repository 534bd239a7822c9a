"""The whole service as processes: web and worker over one database and one Redis."""

import signal
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from sandbox.embedded_redis import free_port
from sandbox.processes import STOP_SECONDS, Process, web_answers


@dataclass(frozen=True)
class Service:
    """A running service; `url` is the web's."""

    url: str
    web: Process
    worker: Process

    def must_run(self) -> None:
        """Raise `NotReady` when one of its processes has ended."""
        self.web.must_run()
        self.worker.must_run()


@contextmanager
def service(  # noqa: PLR0913 - all but the settings are switches with a default
    env: Mapping[str, str],
    *,
    logs: Path,
    port: int = 0,
    grace_seconds: float = STOP_SECONDS,
    commands: Mapping[str, Sequence[str]] = MappingProxyType({}),
    meanwhile: Callable[[], None] = lambda: None,
) -> Generator[Service]:
    """Run web and worker with these settings until the context closes; the tables must exist.

    The web listens on the loopback only. `commands` replace lines of the Procfile. `meanwhile` is called
    while they start, and may raise.
    """
    number = port or free_port()
    own = {**env, "PORT": str(number), "GUNICORN_CMD_ARGS": f"--bind=127.0.0.1:{number}"}
    with ExitStack() as stack:
        worker = Process("worker", env=own, log=logs / "worker.log", command=commands.get("worker", ()))
        stack.callback(worker.stop, grace_seconds=grace_seconds)
        web = Process("web", env=own, log=logs / "web.log", command=commands.get("web", ()))
        stack.callback(web.stop, grace_seconds=grace_seconds)
        stack.callback(worker.send, signal.SIGTERM)  # both begin to stop at once, as on a platform
        running = Service(f"http://127.0.0.1:{number}", web, worker)

        def ready() -> bool:
            meanwhile()
            worker.must_run()
            return web_answers(running.url)

        web.wait_until(ready)
        yield running
