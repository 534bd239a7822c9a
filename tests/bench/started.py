"""Starts the benchmark's own processes, each in a group of its own, and surely ends them."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = Path(sys.executable).parent
STOP_SECONDS = 10.0


@contextmanager
def started(
    command: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None, talks: bool = False
) -> Generator[subprocess.Popen[str]]:
    """Run a program of this environment until the context closes; what it prints goes to `log`.

    One that `talks` is spoken with over its standard input and output. A program runs where its log is,
    so that no configuration file of the service's is picked up by accident.
    """
    path = os.environ["PATH"]  # noqa: TID251 - a launcher
    with log.open("a") as sink:
        process = subprocess.Popen(  # noqa: S603 - programs of our own environment
            [str(BIN / command[0]), *command[1:]],
            cwd=log.parent,
            env={"PATH": path, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", **(env or {})},
            stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
            stdout=subprocess.PIPE if talks else sink,
            stderr=sink,
            text=True,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            _end(process)


def first_lines(process: subprocess.Popen[str], until: str) -> str:
    """Return what it prints up to the line that starts with `until`; raise if it ends before."""
    lines: list[str] = []
    for line in process.stdout or ():
        lines.append(line)
        if line.startswith(until):
            return "".join(lines)
    raise RuntimeError(f"{process.args!r} ended with {process.poll()}: {''.join(lines)[-2000:]}")


def _end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(STOP_SECONDS)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
