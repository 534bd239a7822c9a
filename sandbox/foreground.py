"""A running demo as its foreground sees it: stay until told to stop, notice what ends, play a scenario."""

import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import click
import redis

from sandbox.payments import Payments
from sandbox.play import Result, differences, play, story
from sandbox.processes import NotReady
from sandbox.scenarios import Scenario
from sandbox.service import Service

TICK_SECONDS = 0.2


class Stopped(Exception):
    """Somebody asked for the end."""


class Stop:
    """Notes a request to stop; `check` raises at the next place where stopping is clean."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup stays nohup
                signal.signal(number, self._ask)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self._asked.set()

    def check(self) -> None:
        """Raise `Stopped` when asked to stop."""
        if self._asked.is_set():
            raise Stopped

    def pause(self) -> None:
        """Wait one tick; raise `Stopped` when asked to stop."""
        self._asked.wait(TICK_SECONDS)
        self.check()


class Logs:
    """Shows what processes write to their files from now on, as it comes."""

    def __init__(self, *paths: Path) -> None:
        self._seen = {path: path.stat().st_size for path in paths}

    def show(self) -> None:
        """Print what is new, each line with its process's name."""
        for path, seen in self._seen.items():
            with path.open("rb") as file:
                file.seek(seen)
                new = file.read()
            whole = new[: new.rfind(b"\n") + 1]
            self._seen[path] = seen + len(whole)
            for line in whole.decode(errors="replace").splitlines():
                click.echo(f"{path.stem:7}| {line}")


@dataclass(frozen=True, slots=True)
class Foreground:
    """What the foreground watches. `logs` is None when nobody wants to see them."""

    stop: Stop
    running: Service
    broker: redis.Redis
    logs: Logs | None

    def stay(self) -> None:
        """Stay until somebody asks for the end (`Stopped`) or something ends by itself (`NotReady`)."""
        while True:
            self.tick()

    def tick(self) -> None:
        """Wait a moment, and see that all is well."""
        if self.logs:
            self.logs.show()
        self.stop.pause()
        self.running.must_run()
        try:
            self.broker.ping()
        except redis.ConnectionError as error:
            raise NotReady("redis ended by itself") from error
        except redis.TimeoutError:  # busy is not dead
            return

    def play(
        self, scenario: Scenario, *, payments: Payments, ledger_file: Path, settings: Mapping[str, str]
    ) -> bool:
        """Play a scenario and show it; True when all came as expected."""
        click.echo(f"\nSCENARIO {scenario.name}: {scenario.about}.")
        if scenario.settings:
            pairs = ", ".join(f"{name}={value}" for name, value in scenario.settings.items())
            click.echo(f"  (Shortened, so that nobody has to wait: {pairs})")
        url, token = self.running.url, settings.get("PORTAL_TOKENS", "").partition(",")[0].strip()
        result = self._wait_for(
            lambda: play(scenario, url=url, token=token, payments=payments, ledger_file=ledger_file)
        )
        click.echo("\n".join(story(scenario, result, url=url)))
        return not differences(scenario, result)

    def _wait_for(self, call: Callable[[], Result]) -> Result:
        """Run `call` in a thread of its own, so that stopping need not wait for it."""
        future: Future[Result] = Future()

        def run() -> None:
            try:
                future.set_result(call())
            except Exception as error:  # noqa: BLE001 - raised again below
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        while not future.done():
            self.tick()
        return future.result()
