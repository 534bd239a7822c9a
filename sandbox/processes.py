"""Starts the service's own processes, by the very lines of the Procfile, and surely stops them again."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

import requests

ROOT = Path(__file__).resolve().parent.parent
READY_SECONDS = 60.0
"""A cold start on a slow machine compiles a few thousand modules first."""
STOP_SECONDS = 30.0
POLL_SECONDS = 0.05
SHOWN_LINES = 30


class NotReady(Exception):
    """A process ended, or did not come up in time; the message shows the end of what it printed."""


class Process:
    """One process of the service in a process group of its own. Its output goes to `log`.

    It runs the Procfile's line for `name`, unless a test gives another `command`.
    """

    def __init__(self, name: str, *, env: Mapping[str, str], log: Path, command: Sequence[str] = ()) -> None:
        self.name = name
        self.log = log
        self._sink: IO[bytes] = log.open("ab")
        self._popen = subprocess.Popen(  # noqa: S603 - a line of our own Procfile
            [*command] or procfile_command(name),
            cwd=ROOT,
            env=_environment(env),
            stdin=subprocess.DEVNULL,
            stdout=self._sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """The main process's id, which is also its group's."""
        return self._popen.pid

    def is_running(self) -> bool:
        """Whether the main process lives."""
        return self._popen.poll() is None

    @property
    def exit_code(self) -> int | None:
        """What it ended with (minus a signal's number); None while it lives."""
        return self._popen.poll()

    def last_words(self) -> str:
        """Return the end of what it printed."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-SHOWN_LINES:])

    def send(self, number: signal.Signals) -> None:
        """Signal every process of the group at once, as a platform does.

        What is left of a group keeps its number from being given away; once nothing is left, a stranger may
        have it.
        """
        if not self.is_running() and _is_taken(self.pid):
            return
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return

    def stop(self, *, grace_seconds: float = STOP_SECONDS) -> None:
        """Ask it to end, wait, and end what is left."""
        if self.is_running():
            self.send(signal.SIGTERM)
        self.wait(grace_seconds)
        self.kill()

    def kill(self) -> None:
        """End the whole group at once."""
        self.send(signal.SIGKILL)
        self._popen.wait(STOP_SECONDS)
        self._sink.close()

    def wait(self, seconds: float) -> bool:
        """Wait until it has ended by itself; False when it has not."""
        try:
            self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def wait_until(self, ready: Callable[[], bool], *, seconds: float = READY_SECONDS) -> None:
        """Wait until `ready` says so; raise `NotReady` when the process ends before, or time is over.

        What `ready` raises ends the waiting, too.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if ready():
                return
            self.must_run()
            time.sleep(POLL_SECONDS)  # noqa: TID251 - a launcher waits in real time
        raise NotReady(f"{self.name} was not ready after {seconds:g} s. It printed:\n{self.last_words()}")

    def must_run(self) -> None:
        """Raise `NotReady` when it has ended."""
        if not self.is_running():
            raise NotReady(
                f"{self.name} ended (exit code {self.exit_code}). It printed:\n{self.last_words()}"
            )


def _is_taken(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def procfile_command(name: str) -> list[str]:
    """Return the Procfile's command for `name`, run by this interpreter's environment."""
    for line in (ROOT / "Procfile").read_text().splitlines():
        process, _, command = line.partition(":")
        if process == name:
            program, *arguments = shlex.split(command)
            return [str(Path(sys.executable).parent / program), *arguments]
    raise LookupError(f"the Procfile has no process {name}")


def web_answers(url: str) -> bool:
    """Whether the web, the database, Redis and a worker are there."""
    with requests.Session() as session:
        session.trust_env = False
        try:
            return session.get(f"{url}/readyz", timeout=3.0).status_code == 200  # noqa: PLR2004 - HTTP's own
        except requests.RequestException:
            return False


def _environment(own: Mapping[str, str]) -> dict[str, str]:
    """Hand down what a process needs to run, and nothing that could change what it does."""
    kept = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV")
    inherited = {name: os.environ[name] for name in kept if name in os.environ}  # noqa: TID251 - a launcher
    return {**inherited, "PYTHONUNBUFFERED": "1", **own}
