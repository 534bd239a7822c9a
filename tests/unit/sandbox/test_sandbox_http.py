"""The small server under both stand-ins."""

import socket
import threading
import time

import pytest
import requests

from sandbox import broken
from sandbox.answers import Answer, Delayed, Raw, Reply, Request, Wire
from sandbox.http import Server, serve

ASK = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"


class Scripted:
    """Answers everything with what it was given, and resets connections to /closed unread."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.asked: list[Request] = []
        self.arrived = threading.Event()

    def opening(self, path: str) -> Raw | None:
        return broken.reset if path == "/closed" else None

    def answer(self, request: Request) -> Answer:
        self.asked.append(request)
        self.arrived.set()
        return self._answer


def connect(server: Server) -> socket.socket:
    return socket.create_connection((server.host, server.port), timeout=5)


def talk(server: Server, data: bytes) -> bytes:
    """Send bytes, and return all that comes back until the connection closes."""
    with connect(server) as connection:
        connection.sendall(data)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_a_request_arrives_whole_and_its_answer_too() -> None:
    app = Scripted(Reply(201, b'{"a": 1}', headers=(("X-More", "yes"),)))
    with serve(app) as server, requests.Session() as session:
        response = session.post(f"{server.url}/some/where?x=1", data=b"body", headers={"X-Mine": "value"})
    assert (response.status_code, response.json(), response.headers["X-More"]) == (201, {"a": 1}, "yes")
    asked = app.asked[0]
    assert (asked.method, asked.path, asked.body) == ("POST", "/some/where", b"body")
    assert asked.headers["x-mine"] == "value"


def test_a_connection_is_kept_for_the_next_request() -> None:
    app = Scripted(Reply())
    with serve(app) as server, requests.Session() as session:
        for _ in range(3):
            session.get(server.url)
    assert [asked.number for asked in app.asked] == [1, 2, 3]


@pytest.mark.parametrize("ask", [ASK, b"GET / HTTP/1.0\r\n\r\n"])
def test_a_client_that_wants_its_connection_closed_gets_it_closed(ask: bytes) -> None:
    with serve(Scripted(Reply(200, b"{}"))) as server:
        assert talk(server, ask).endswith(b"{}")


def test_a_client_that_waits_for_100_continue_gets_it() -> None:
    ask = b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"
    with serve(Scripted(Reply(200, b"{}"))) as server:
        assert talk(server, ask).startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize(
    "length", ["Content-Length: 99999999", "Content-Length: -1", "Transfer-Encoding: chunked"]
)
def test_a_body_without_a_reasonable_length_is_refused(length: str) -> None:
    app = Scripted(Reply())
    with serve(app) as server:
        assert talk(server, f"POST / HTTP/1.1\r\n{length}\r\n\r\n".encode()).startswith(b"HTTP/1.1 413 ")
    assert app.asked == []


@pytest.mark.parametrize(
    "half", ["", "GE", "nonsense\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf"]
)
def test_half_a_request_is_no_request(half: str) -> None:
    app = Scripted(Reply())
    with serve(app) as server, connect(server) as connection:
        connection.sendall(half.encode())
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100) == b""
    assert app.asked == []


@pytest.mark.parametrize("answer", [broken.hang, broken.continue_then_nothing, Delayed(60, Reply())])
def test_stopping_ends_an_answer_that_hangs(answer: Answer) -> None:
    app = Scripted(answer)
    threads_before = threading.active_count()
    with serve(app) as server, connect(server) as connection:
        connection.sendall(ASK)
        assert app.arrived.wait(5)
        started = time.monotonic()
        server.stop()
        assert time.monotonic() - started < 3
    assert threading.active_count() == threads_before


def test_stopping_ends_a_connection_that_says_nothing() -> None:
    with serve(Scripted(Reply())) as server, connect(server):
        started = time.monotonic()
        server.stop()
        assert time.monotonic() - started < 3


def test_a_hanging_answer_ends_when_its_client_goes_away() -> None:
    gone = threading.Event()

    def hang(wire: Wire) -> None:
        wire.wait_until_gone()
        gone.set()

    app = Scripted(hang)
    with serve(app) as server:
        with connect(server) as connection:
            connection.sendall(ASK)
            assert app.arrived.wait(5)
        assert gone.wait(5)


def test_a_reset_is_a_reset_and_not_a_close() -> None:
    with serve(Scripted(broken.reset)) as server, pytest.raises(ConnectionResetError):
        talk(server, ASK)


def test_an_app_can_take_the_connection_before_the_request_is_read() -> None:
    app = Scripted(Reply())
    with serve(app) as server, pytest.raises(ConnectionResetError):
        talk(server, b"POST /closed HTTP/1.1\r\n")
    assert app.asked == []


def test_many_connections_at_once_are_all_answered() -> None:
    answers: list[bytes] = []
    with serve(Scripted(Delayed(0.05, Reply(200, b"{}")))) as server:
        threads = [threading.Thread(target=lambda: answers.append(talk(server, ASK))) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(answers) == 50
    assert all(answer.startswith(b"HTTP/1.1 200 OK") for answer in answers)
