"""Streams and their clients against the real server: idle, slow and gone ones cost nobody else anything."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.functional.stand import wait_until
from tests.functional.web.streaming_app import THREADS
from tests.functional.web.turn_stage import TurnStage, read_stream

APP = "tests.functional.web.streaming_app"
ROOT = Path(__file__).parents[3]
IDLE = 40
PATIENCE_SECONDS = 20.0
SMALL_BUFFER = 4096


class Server:
    """A gunicorn with the production settings, and its log."""

    def __init__(self, port: int, log: Path) -> None:
        self.port = port
        self.log = log

    def connect(self, *, buffer: int = 0) -> socket.socket:
        connection = socket.socket()
        if buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        connection.settimeout(PATIENCE_SECONDS)
        connection.connect(("127.0.0.1", self.port))
        return connection

    def get(self, path: str) -> bytes:
        """Return the body of a quick answer."""
        with closing(self.connect()) as connection:
            connection.sendall(f"GET {path} HTTP/1.0\r\nHost: test\r\n\r\n".encode())
            received = read_to_the_end(connection)
        assert received.startswith(b"HTTP/1.0 200"), received
        return received.partition(b"\r\n\r\n")[2]

    def watch(self, turn_id: str, *, buffer: int = 0) -> socket.socket:
        """Open a stream and read the head of its answer."""
        connection = self.connect(buffer=buffer)
        connection.sendall(f"GET /support/turns/{turn_id}/events HTTP/1.0\r\nHost: test\r\n\r\n".encode())
        head = read_until(connection, b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.0 200"), head
        return connection

    @property
    def streams(self) -> int:
        return int(self.get("/taken"))

    def slowest_of(self, count: int) -> float:
        """Return how long the slowest of some quick requests took, in seconds."""
        longest = 0.0
        for _ in range(count):
            began = time.monotonic()
            self.get("/taken")
            longest = max(longest, time.monotonic() - began)
        return longest


@pytest.fixture
def stage(database_url: str, redis_url: str) -> Iterator[TurnStage]:
    opened = TurnStage(database_url, redis_url)
    yield opened
    opened.close()


@pytest.fixture
def server(
    stage: TurnStage, database_url: str, redis_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        log = tmp_path_factory.mktemp("gunicorn") / "log"
        command = [sys.executable, "-m", "gunicorn", "--config", "gunicorn.conf.py"]
        command += ["--bind", f"fd://{listener.fileno()}", "--threads", str(THREADS), f"{APP}:application()"]
        with log.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 - our own command
                command,
                cwd=ROOT,
                env={
                    "PATH": os.defpath,
                    "PYTHONPATH": ".",
                    "STAGE_DATABASE": database_url,
                    "STAGE_REDIS": redis_url,
                },
                pass_fds=[listener.fileno()],
                stdout=output,
                stderr=output,
            )
        try:
            running = Server(listener.getsockname()[1], log)
            assert running.streams == 0, log.read_text()
            yield running
        finally:
            process.terminate()
            process.wait(30)


@pytest.mark.fault(56)
def test_forty_idle_streams_do_not_slow_other_requests(stage: TurnStage, server: Server) -> None:
    turns = [stage.begin(f"customer-{n}") for n in range(IDLE)]
    alone = server.slowest_of(30)
    with ExitStack() as stack:
        streams = [stack.enter_context(closing(server.watch(turn.id))) for turn in turns]
        wait_until(lambda: server.streams == IDLE)
        assert server.slowest_of(30) < alone + 0.25

        stage.note(turns[7])
        stage.end(turns[7])
        assert b"event: ended" in read_to_the_end(streams[7])
        wait_until(lambda: server.streams == IDLE - 1)


def test_a_client_that_goes_frees_its_thread_before_anything_is_written(
    stage: TurnStage, server: Server
) -> None:
    stream = server.watch(stage.begin().id)
    wait_until(lambda: server.streams == 1)
    stream.close()
    wait_until(lambda: server.streams == 0, seconds=3)
    assert "Traceback" not in server.log.read_text()


def test_a_client_that_stops_reading_loses_its_stream_and_slows_no_turn(
    stage: TurnStage, server: Server
) -> None:
    turn = stage.begin()
    with closing(server.watch(turn.id, buffer=SMALL_BUFFER)):
        began = time.monotonic()
        for _ in range(400):
            stage.note(turn, text="x" * 7500)
        took = time.monotonic() - began
        wait_until(lambda: server.streams == 0, seconds=8)
    assert took < 15
    assert "Traceback" not in server.log.read_text()


def test_a_client_that_lost_its_stream_gets_the_rest_from_where_it_was(
    stage: TurnStage, server: Server
) -> None:
    turn = stage.begin()
    stage.note(turn)
    with closing(server.watch(turn.id)) as first:
        read_until(first, b"id: 1\n")
    stage.note(turn)
    stage.end(turn)
    rest = server.get(f"/support/turns/{turn.id}/events?last_event_id=1")
    assert [(number, name) for number, name, _ in read_stream(rest)] == [(2, "step"), (3, "ended")]


def read_to_the_end(connection: socket.socket) -> bytes:
    received = b""
    while piece := connection.recv(65536):
        received += piece
    return received


def read_until(connection: socket.socket, mark: bytes) -> bytes:
    """Read up to the end of `mark` and not a byte further: what follows is the next reader's."""
    received = b""
    while not received.endswith(mark):
        byte = connection.recv(1)
        assert byte, received
        received += byte
    return received
