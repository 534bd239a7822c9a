"""`make demo` as a person uses it: it says where everything is, plays a case, and leaves nothing behind."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from sandbox.embedded_redis import free_port
from tests.machine import family, living

ROOT = Path(__file__).parents[2]
END_SECONDS = 30.0

pytestmark = pytest.mark.timeout(120)


class Demo:
    """A demo in a process group of its own, as a terminal would start it."""

    def __init__(self, tmp: Path, more: Mapping[str, str]) -> None:
        self.tmp = tmp
        self.port = free_port()
        self.said = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sandbox.stack"],
            cwd=ROOT,
            env={"PATH": os.defpath, "TMPDIR": str(tmp), "PORT": str(self.port), **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def hear(self, text: str) -> None:
        """Read what it prints up to a line with `text`."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line
            if text in line:
                return
        pytest.fail(f"it never said {text!r}, but:\n{self.said}")

    def ends(self) -> int:
        """Wait for its end; return the exit code."""
        rest, _ = self.process.communicate(timeout=END_SECONDS)
        self.said += rest
        return self.process.returncode

    def place(self, name: str) -> str:
        """Return the address or path that it printed for `name`."""
        found = re.search(rf"^  {name} +(\S+)", self.said, re.MULTILINE)
        assert found is not None, self.said
        return found[1]

    def stop(self) -> None:
        """End it, gently if it can be: killed, it could not tidy up."""
        if self.process.poll() is None:
            self.process.terminate()
            self.ends()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Demo]]:
    started: list[Demo] = []

    def start(**more: str) -> Demo:
        started.append(Demo(tmp_path, more))
        return started[-1]

    yield start
    for demo in started:
        demo.stop()


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def port_of(url: str) -> int:
    return urlsplit(url).port or 0


def page(url: str) -> str:
    with requests.Session() as session:
        session.trust_env = False
        answer = session.get(url, timeout=5)
    assert answer.status_code == 200
    return answer.text


def test_a_hard_case_is_played_and_ctrl_c_leaves_nothing_behind(start: Callable[..., Demo]) -> None:
    demo = start(SCENARIO="accept-then-drop")
    demo.hear("Running. Ctrl-C stops.")
    assert "As expected. Money moved, the answer was lost." in demo.said
    assert "ledger     unknown" in demo.said
    assert "<form>" in page(demo.place("Try page"))
    assert "ORD-1001" in page(demo.place("Payments"))
    members, logs = family(demo.process.pid), ROOT / demo.place("Logs")
    ports = [demo.port, port_of(demo.place("Payments")), port_of(demo.place("Model"))]
    assert len(members) >= 4
    assert (logs / "worker.log").is_file()

    os.killpg(demo.process.pid, signal.SIGINT)

    assert demo.ends() == 0
    assert living(members) == []
    assert [port for port in ports if is_open(port)] == []
    assert not logs.exists()
    assert list(demo.tmp.iterdir()) == []


@pytest.mark.parametrize(
    ("victim", "told"),
    [("celery", "worker ended"), ("valkey-server", "redis ended")],
)
def test_the_end_of_one_process_ends_all_and_is_told(
    start: Callable[..., Demo], victim: str, told: str
) -> None:
    demo = start()
    demo.hear("Running. Ctrl-C stops.")
    members = family(demo.process.pid)
    pid = next((pid for pid, command in members.items() if victim in command), None)
    if pid is None:
        pytest.skip(f"no {victim} here: fakeredis serves instead")

    os.kill(pid, signal.SIGKILL)

    assert demo.ends() == 1
    assert f"make demo: {told}" in demo.said
    assert living(members) == []
    assert not (ROOT / demo.place("Logs")).exists()


def test_it_can_be_stopped_while_it_starts(start: Callable[..., Demo]) -> None:
    demo = start()
    demo.hear("Starting")

    demo.process.send_signal(signal.SIGTERM)

    assert demo.ends() == 0
    assert "Stopped." in demo.said
    assert list(demo.tmp.iterdir()) == []


def test_a_taken_port_is_named_with_the_way_out(start: Callable[..., Demo]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        demo = start(PORT=str(port))

        assert demo.ends() == 1
    assert f"port {port} cannot be used" in demo.said
    assert "make demo PORT=" in demo.said


def test_an_unknown_scenario_lists_those_there_are(start: Callable[..., Demo]) -> None:
    demo = start(SCENARIO="no-such-case")

    assert demo.ends() == 1
    assert "there is no SCENARIO 'no-such-case'" in demo.said
    assert "accept-then-drop" in demo.said


def test_no_scenario_is_played_on_real_payments(start: Callable[..., Demo]) -> None:
    demo = start(SCENARIO="plain", PAYMENTS_URL="https://payments.example.com")

    assert demo.ends() == 1
    assert "PAYMENTS_URL is set" in demo.said
