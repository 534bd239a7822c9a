"""`make demo` as a newcomer runs it, in a clean clone: `python -m tests.smoke CLONE`.

It plays a 504 with money moved, asks for one more refund over HTTP, looks at what payments moved, presses
Ctrl-C, and looks for what was left behind.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click
import requests

from sandbox.embedded_redis import free_port
from tests.machine import family, living

READY = "Running. Ctrl-C stops."
START_SECONDS = 600
STOP_SECONDS = 60
KEPT = ("PATH", "HOME", "USER", "LANG")
KEPT_BEGINNINGS = ("PIP_", "SSL_CERT", "REQUESTS_CA", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
"""What finds programs and the package index."""


class SmokeFailed(Exception):
    """Something is not as it should be; the message says what."""


def main(clone: Path) -> None:
    """Try everything; raise `SmokeFailed` at the first thing that is wrong."""
    port, started = free_port(), time.monotonic()
    with tempfile.TemporaryDirectory() as temporary, running_demo(clone, port, temporary) as demo:
        said = listen(demo)
        click.echo(f"Ready {time.monotonic() - started:.0f} s after `make demo`, set-up included.")
        members = family(demo.pid)
        use(said, f"http://127.0.0.1:{port}")
        os.killpg(demo.pid, signal.SIGINT)  # what Ctrl-C does
        rest, _ = demo.communicate(timeout=STOP_SECONDS)
        require("Stopped." in rest, f"it did not stop as it should:\n{rest}")
        look_for_remains(clone, port, members, Path(temporary))


@contextmanager
def running_demo(clone: Path, port: int, temporary: str) -> Generator["subprocess.Popen[str]"]:
    """Run `make demo` in a process group of its own, as a terminal does; surely end it."""
    here = os.environ.items()  # noqa: TID251 - what a newcomer has, and no setting of ours
    env = {name: value for name, value in here if name in KEPT or name.upper().startswith(KEPT_BEGINNINGS)}
    demo = subprocess.Popen(  # noqa: S603 - fixed words and a number
        ["make", "demo", f"PORT={port}", "SCENARIO=timeout-after-refund"],  # noqa: S607 - a newcomer's words
        cwd=clone,
        env={**env, "TMPDIR": temporary},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield demo
    finally:
        if demo.poll() is None:
            os.killpg(demo.pid, signal.SIGTERM)
            demo.communicate(timeout=STOP_SECONDS)


def listen(demo: "subprocess.Popen[str]") -> str:
    """Return what the demo says until it is ready."""

    def too_long(_number: int, _frame: FrameType | None) -> None:
        raise SmokeFailed(f"not ready after {START_SECONDS} s; it said:\n{said}")

    said = ""
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(START_SECONDS)
    for line in demo.stdout or ():
        said += line
        if READY in line:
            signal.alarm(0)
            return said
    raise SmokeFailed(f"it ended before it was ready; it said:\n{said}")


def use(said: str, url: str) -> None:
    """Hold what the scenario showed, ask for a refund as the portal does, and look at the money."""
    require("<- 504" in said and "As expected." in said, f"the scenario did not come as expected:\n{said}")
    click.echo("504 with money moved: the problem says that the refund was paid.")
    payments = re.search(r"^  Payments +(\S+)", said, re.MULTILINE)
    if payments is None:
        raise SmokeFailed(f"it does not say where payments are:\n{said}")
    with requests.Session() as session:
        session.trust_env = False
        message = {"user_id": "customer-17", "message": "refund 12.50 for order ORD-2001"}
        answer = session.post(f"{url}/support/refund-chat", json=message, timeout=60)
        require(answer.status_code == 200 and "12.50" in answer.text, f"no paid refund: {answer.text}")
        click.echo(f"200: {answer.text}")
        ledger = session.get(f"{payments[1]}ledger.json", timeout=10).json()
        moved = [(refund["order_id"], refund["amount_cents"]) for refund in ledger["moved"]]
        require(moved == [("ORD-1007", 500), ("ORD-2001", 1250)], f"this money moved: {moved}")
        require(ledger["requests"] == len(moved), f"{ledger['requests']} requests for {len(moved)} refunds")
        click.echo(f"Payments moved {moved}, by one request each.")
        require("<form>" in session.get(f"{url}/", timeout=10).text, "there is no chat page")
        require("refund_agent_" in session.get(f"{url}/metrics", timeout=10).text, "there are no figures")


def look_for_remains(clone: Path, port: int, members: dict[int, str], temporary: Path) -> None:
    """Hold that no process, no port and no file is left."""
    require(not living(members), f"processes left behind: {living(members)}")
    with requests.Session() as session:
        session.trust_env = False
        try:
            session.get(f"http://127.0.0.1:{port}/healthz", timeout=2)
        except requests.ConnectionError:
            pass
        else:
            raise SmokeFailed(f"port {port} still answers")
    files = [str(path) for path in (*temporary.iterdir(), *clone.glob(".state/*"))]
    require(not files, f"files left behind: {files}")
    click.echo("Ctrl-C left no process, no port and no file behind.")


def require(holds: object, otherwise: str) -> None:
    """Raise `SmokeFailed` unless it holds."""
    if not holds:
        raise SmokeFailed(otherwise)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except SmokeFailed as error:
        sys.exit(f"smoke: {error}")
