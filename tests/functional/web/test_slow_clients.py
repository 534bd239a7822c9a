"""Clients that send slowly, or break off, against the real server with its real configuration."""

import json
import os
import runpy
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.functional.web.slow_app import QuickWorker
from web.gunicorn_worker import WalledThreadWorker

APP = "tests.functional.web.slow_app"
ROOT = Path(__file__).parents[3]
THREADS = 12
PATIENCE_SECONDS = 15.0
GOOD = b'{"user_id": "u", "message": "m"}'
HEAD = b"POST /support/refund-chat HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Serve the web by gunicorn on a port of its own."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        log = tmp_path_factory.mktemp("gunicorn") / "log"
        command = [sys.executable, "-m", "gunicorn", "--config", "gunicorn.conf.py"]
        command += ["--bind", f"fd://{listener.fileno()}", "--threads", str(THREADS)]
        command += ["--worker-class", f"{APP}.QuickWorker", f"{APP}:application()"]
        with log.open("wb") as output:
            server = subprocess.Popen(  # noqa: S603 - our own command
                command,
                cwd=ROOT,
                env={"PATH": os.defpath, "PYTHONPATH": "."},
                pass_fds=[listener.fileno()],
                stdout=output,
                stderr=output,
            )
        try:
            number: int = listener.getsockname()[1]
            assert exchange(number, request(GOOD)).startswith(b"HTTP/1.1 200"), log.read_text()
            yield number
        finally:
            server.terminate()
            server.wait(10)


def request(body: bytes, *, length: int | None = None) -> bytes:
    return HEAD + b"Content-Length: %d\r\n\r\n" % (len(body) if length is None else length) + body


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)


def receive(connection: socket.socket) -> bytes:
    """Read one whole answer, or whatever came before the server closed."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65536)
        if not piece:
            return received
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(
        int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
    )
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def exchange(port: int, sent: bytes) -> bytes:
    with closing(connect(port)) as connection:
        connection.sendall(sent)
        return receive(connection)


def problem(answer: bytes, status: int) -> None:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d" % status), answer
    assert b"application/problem+json" in head
    assert json.loads(body)["status"] == status


def other_requests_are_quick(port: int) -> None:
    """Check that an ordinary request takes less than 100 ms: the median of five, as test machines stutter."""
    took: list[float] = []
    for _ in range(5):
        started = time.monotonic()
        assert exchange(port, request(GOOD)).startswith(b"HTTP/1.1 200")
        took.append(time.monotonic() - started)
    assert sorted(took)[2] < 0.1


def test_production_serves_with_the_worker_that_is_tested_here() -> None:
    assert issubclass(QuickWorker, WalledThreadWorker)
    configured = runpy.run_path(str(ROOT / "gunicorn.conf.py"))["worker_class"]
    assert configured == f"{WalledThreadWorker.__module__}.{WalledThreadWorker.__qualname__}"


@pytest.mark.fault(18)
def test_a_body_that_stops_coming_is_cut_off_and_others_are_quick_meanwhile(port: int) -> None:
    with ExitStack() as stack:
        silent = [stack.enter_context(closing(connect(port))) for _ in range(THREADS // 2)]
        for connection in silent:
            connection.sendall(request(GOOD, length=500))
        other_requests_are_quick(port)

        for connection in silent:
            problem(receive(connection), 408)


@pytest.mark.fault(18)
def test_a_body_that_drips_is_cut_off(port: int) -> None:
    with closing(connect(port)) as connection:
        connection.sendall(request(b"", length=500))
        started = time.monotonic()
        with pytest.raises(OSError, match=r"pipe|reset"):  # noqa: PT012 - the drip goes on until it is cut
            while time.monotonic() - started < PATIENCE_SECONDS:
                connection.sendall(b" ")
                time.sleep(0.05)  # noqa: TID251 - the drip itself
        assert time.monotonic() - started < 8


@pytest.mark.fault(18)
def test_more_silent_bodies_than_threads_do_not_stop_the_service(port: int) -> None:
    with ExitStack() as stack:
        for _ in range(3 * THREADS):
            stack.enter_context(closing(connect(port))).sendall(request(GOOD, length=500))

        assert exchange(port, request(GOOD)).startswith(b"HTTP/1.1 200")


@pytest.mark.fault(19)
def test_headers_that_drip_are_cut_off_and_others_are_quick_meanwhile(port: int) -> None:
    with ExitStack() as stack:
        slow = [stack.enter_context(closing(connect(port))) for _ in range(THREADS // 2)]
        for connection in slow:
            connection.sendall(HEAD[:10])
        other_requests_are_quick(port)

        for connection in slow:
            assert receive(connection) == b""


@pytest.mark.fault(19)
def test_more_dripping_headers_than_threads_do_not_stop_the_service(port: int) -> None:
    with ExitStack() as stack:
        for _ in range(2 * THREADS):
            stack.enter_context(closing(connect(port))).sendall(HEAD[:10])

        assert exchange(port, request(GOOD)).startswith(b"HTTP/1.1 200")


def test_a_body_cut_short_is_400(port: int) -> None:
    with closing(connect(port)) as connection:
        connection.sendall(request(GOOD, length=500))
        connection.shutdown(socket.SHUT_WR)
        problem(receive(connection), 400)


def chunked(*pieces: bytes) -> bytes:
    return HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(pieces)


def chunk(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(body), body)


def test_a_chunked_body_is_read(port: int) -> None:
    assert exchange(port, chunked(chunk(GOOD[:5]), chunk(GOOD[5:]), b"0\r\n\r\n")).startswith(b"HTTP/1.1 200")


@pytest.mark.fault(16)
def test_a_chunked_body_over_the_limit_is_413(port: int) -> None:
    problem(exchange(port, chunked(chunk(GOOD.ljust(65_536)), chunk(b" "), b"0\r\n\r\n")), 413)


@pytest.mark.parametrize(
    "pieces",
    [
        (b"xyz\r\n",),
        (b"5\r\nabcdefg",),
        (chunk(GOOD), b"0\r\nbad trailer\r\n\r\n"),
        (chunk(GOOD), b"0\r\n: x\r\n\r\n"),
    ],
)
def test_a_broken_chunked_body_is_never_a_500(port: int, pieces: tuple[bytes, ...]) -> None:
    with closing(connect(port)) as connection:
        connection.sendall(chunked(*pieces))
        connection.shutdown(socket.SHUT_WR)
        problem(receive(connection), 400)
