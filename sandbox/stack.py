"""`make demo`: the whole service on this machine, in the foreground, until Ctrl-C.

An embedded Redis, a SQLite file, stand-ins for model and payments, the Procfile's own release, web and worker
lines, and customers and orders for the support agent. Whatever ends it, nothing stays behind: no process, no
port, no file.
"""

import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
import redis
import requests

from sandbox.embedded_redis import embedded_redis
from sandbox.foreground import Foreground, Logs, Stop, Stopped
from sandbox.outside import Outside, is_real, outside
from sandbox.processes import ROOT, STOP_SECONDS, NotReady, Process
from sandbox.scenarios import SCENARIOS, Scenario
from sandbox.screen import scenario_lines, support_lines, welcome
from sandbox.service import service

GRACE_SECONDS = 3.0
"""For turns that run when a demo with stand-ins is stopped. With real payments they get `STOP_SECONDS`."""
STATE = ROOT / ".state"
PASSED_ON = (
    "PORTAL_TOKENS",
    "TURN_DEADLINE_SECONDS",
    "COMPLETION_TIMEOUT_SECONDS",
    "BACKOFF_SECONDS",
    "PAYMENTS_TIMEOUT_SECONDS",
    "WORKER_CONCURRENCY",
    "WEB_THREADS",
    "LOG_LEVEL",
)
"""What the caller's environment may change; everything else of it stays outside."""


class CannotStart(Exception):
    """Nothing was started; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for. `scenario` is None when nothing is to be played."""

    port: int
    scenario: Scenario | None
    once: bool
    verbose: bool
    caller: Mapping[str, str]

    def settings(self) -> dict[str, str]:
        """Return what web and worker are told besides where everything is."""
        passed_on = {name: self.caller[name] for name in PASSED_ON if self.caller.get(name)}
        return passed_on | dict(self.scenario.settings if self.scenario else {})


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--port", envvar="PORT", default=8000, show_default=True, type=click.IntRange(1, 65_535))
@click.option("--scenario", envvar="SCENARIO", default="", help="Play a hard case; `list` lists them.")
@click.option("--once", envvar="ONCE", is_flag=True, help="Play it, and exit with 0 if all came as expected.")
@click.option("--verbose", envvar="VERBOSE", is_flag=True, help="Show the logs of web and worker.")
def main(port: int, scenario: str, *, once: bool, verbose: bool) -> None:
    """Run the demo. Each option is an environment variable as well: PORT, SCENARIO, ONCE, VERBOSE."""
    if scenario == "list":
        click.echo("\n".join(scenario_lines()))
        return
    stop = Stop()
    try:
        wish = Wish(
            port=port,
            scenario=_find(scenario or ("plain" if once else "")),
            once=once,
            verbose=verbose,
            caller=os.environ,  # noqa: TID251 - a launcher decides what its processes are told
        )
        _refuse_what_cannot_work(wish)
        as_expected = _run(wish, stop)
    except Stopped:
        click.echo("Stopped.")
    except (CannotStart, NotReady, requests.RequestException) as error:
        click.echo(f"make demo: {error}", err=True)
        sys.exit(1)
    else:
        sys.exit(0 if as_expected else 1)


def _find(name: str) -> Scenario | None:
    if not name:
        return None
    if name not in SCENARIOS:
        listed = "\n".join(scenario_lines())
        raise CannotStart(f"there is no SCENARIO {name!r}. There are:\n{listed}")
    return SCENARIOS[name]


def _refuse_what_cannot_work(wish: Wish) -> None:
    """Raise `CannotStart` before anything is started."""
    real = [name for name in ("OPENAI_API_KEY", "PAYMENTS_URL") if is_real(wish.caller, name)]
    if wish.scenario and real:
        raise CannotStart(
            f"scenarios are played on the stand-ins, but {' and '.join(real)} is set. Unset it for this one."
        )
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wish.port))
        except OSError as error:
            raise CannotStart(
                f"port {wish.port} cannot be used ({error.strerror}). Choose another: make demo PORT=8001"
            ) from error


def _run(wish: Wish, stop: Stop) -> bool:
    """Run everything; return whether the scenario came as expected. Raises `Stopped`, `NotReady`."""
    started = time.monotonic()
    click.echo("Starting Redis, database, worker and web …")
    with ExitStack() as stack:
        state = stack.enter_context(_state_directory())
        redis_url = _start_redis(stack)
        broker = stack.enter_context(redis.Redis.from_url(redis_url, socket_timeout=2.0))
        around = stack.enter_context(outside(wish.caller))
        ledger_file = _ledger_file(around, state)
        env = {
            **wish.settings(),
            **around.env,
            "DATABASE_URL": f"sqlite:///{ledger_file.relative_to(ROOT)}",  # relative: any path may lie above
            "REDIS_URL": redis_url,
        }
        shows_support = around.payments is not None and wish.scenario is None
        if shows_support:
            env |= {"AUTH_MODE": "dev", "AUTH_DEV_SECRET_FILE": str((state / "dev.key").relative_to(ROOT))}
        _run_once("release", env, state, stop)
        if shows_support:
            _run_once("seed", env, state, stop, command=[sys.executable, "-m", "flask", "seed"])
        grace_seconds = GRACE_SECONDS if around.payments else STOP_SECONDS
        running = stack.enter_context(
            service(env, logs=state, port=wish.port, grace_seconds=grace_seconds, meanwhile=stop.check)
        )
        stack.callback(click.echo, "\nStopping …")
        logs = Logs(running.web.log, running.worker.log) if wish.verbose else None
        foreground = Foreground(stop, running, broker, logs)
        as_expected = True
        click.echo(f"Ready after {time.monotonic() - started:.1f} s.")
        if not wish.once:
            click.echo("\n".join(welcome(running.url, around, logs=state, verbose=wish.verbose)))
        if shows_support and not wish.once:
            click.echo("\n".join(support_lines(running.url)))
        if wish.scenario and around.payments:
            as_expected = foreground.play(
                wish.scenario, payments=around.payments, ledger_file=ledger_file, settings=env
            )
        if not wish.once:
            click.echo("\nRunning. Ctrl-C stops.")
            foreground.stay()
    return as_expected


@contextmanager
def _state_directory() -> Generator[Path]:
    """Make a directory for this run's files, and remove it at the end."""
    STATE.mkdir(exist_ok=True)
    path = Path(tempfile.mkdtemp(prefix="demo-", dir=STATE))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _start_redis(stack: ExitStack) -> str:
    """Return the URL of a Redis that runs until the stack closes."""
    try:
        return stack.enter_context(embedded_redis())
    except Exception as error:
        raise CannotStart(f"the embedded Redis did not start: {error}") from error


def _ledger_file(around: Outside, state: Path) -> Path:
    """Return where the ledger is: a record of real money is kept, whatever happens."""
    return state / "refunds.db" if around.payments else STATE / "refunds.db"


def _run_once(
    name: str, env: Mapping[str, str], state: Path, stop: Stop, *, command: Sequence[str] = ()
) -> None:
    """Run the Procfile's line for `name`, or `command`, to its end; raise `NotReady` when it failed."""
    process = Process(name, env=env, log=state / f"{name}.log", command=command)
    try:
        while process.is_running():
            stop.pause()
        if process.exit_code != 0:
            process.must_run()
    finally:
        process.stop(grace_seconds=GRACE_SECONDS)


if __name__ == "__main__":
    main()
