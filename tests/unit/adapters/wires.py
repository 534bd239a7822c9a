"""Servers that misbehave below HTTP, where the stand-ins cannot."""

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sandbox.answers import Answer, Raw, Request

Conversation = Callable[[socket.socket], object]


@dataclass(slots=True)
class OneAnswer:
    """An HTTP service that answers everything in one way, and counts."""

    given: Answer
    requests: list[Request] = field(default_factory=list[Request])

    def opening(self, path: str) -> Raw | None:
        return None

    def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        return self.given


@dataclass(slots=True)
class Listener:
    """A bare TCP server: every connection is handed to one function, then closed."""

    port: int
    connections: int = 0
    closed: threading.Event = field(default_factory=threading.Event)


@contextmanager
def listen(talk: Conversation) -> Iterator[Listener]:
    """Serve on loopback until the block ends; an OSError in `talk` ends only its connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        # What is not read must not vanish in a buffer.
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listener = Listener(server.getsockname()[1])

        def serve() -> None:
            while True:
                connection, _ = server.accept()
                with connection:
                    if stopping.is_set():
                        return
                    listener.connections += 1
                    connection.settimeout(5)
                    with contextlib.suppress(OSError):
                        talk(connection)
                listener.closed.set()

        stopping = threading.Event()
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener
        stopping.set()
        socket.create_connection(("127.0.0.1", listener.port)).close()
        thread.join()


@contextmanager
def full_backlog() -> Iterator[int]:
    """Give a port whose connections are never accepted: the next one hangs in its connect."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.settimeout(0)
            with contextlib.suppress(BlockingIOError):
                waiting.connect(server.getsockname())
        yield server.getsockname()[1]


def over_tls(context: ssl.SSLContext, talk: Conversation) -> Conversation:
    """Make a conversation that starts with a handshake."""

    def handshake_first(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secured:
            talk(secured)

    return handshake_first


def reset_at_once(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def read_request(connection: socket.socket) -> bytes:
    """Read one request with a body of JSON, however it is cut into pieces."""
    got = b""
    while not got.endswith(b"}"):
        piece = connection.recv(65536)
        if not piece:
            break
        got += piece
    return got


def until_gone(connection: socket.socket, *, every_seconds: float, send: bytes = b"") -> None:
    """Send a little now and then until the peer closes."""
    connection.settimeout(every_seconds)
    for _ in range(1000):
        connection.sendall(send)
        try:
            if not connection.recv(65536):
                return
        except TimeoutError:
            continue
