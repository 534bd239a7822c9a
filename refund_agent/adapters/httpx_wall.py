"""An httpx transport over walled sockets: one total time for a call, and a cap on its answer.

httpx counts its time-outs per read and buffers whatever comes. This transport keeps a pool like the
stock one, but every step of a call ends with the current `outside_call`, and an answer is read whole
or refused.
"""

import select
import socket
import ssl
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any, Final

import httpcore
import httpx

from refund_agent.adapters.wall import connect

MAX_ANSWER_BYTES: Final = 8 * 1024 * 1024
"""Holds a megabyte of text even if every character is escaped."""

KEEPALIVE_SECONDS: Final = 5.0
"""An idle connection is reused within this time; longer, and the far side's own limit may cut it."""
GIVEN_SECONDS: Final = 2.0
"""A connection that was found fit for one thread is not closed by another before the first has begun.

The pool looks at all idle connections for every caller. By its own `keepalive_expiry` it closes one that
is a moment too old even if it has just given it away, and that call fails.
"""


class AnswerRefused(httpx.TransportError):
    """The answer is longer than the cap, or comes in an encoding that was not asked for."""


class WalledTransport(httpx.BaseTransport):
    """Keeps up to `connections` connections; a caller beyond that waits its turn, within its own time."""

    def __init__(self, *, connections: int, tls: ssl.SSLContext | None) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=tls,
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=None,  # see `GIVEN_SECONDS`
            network_backend=_WalledBackend(),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request; raise `httpx.ReadTimeout` at the wall and `AnswerRefused` at the cap."""
        url = request.url
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        asked = httpcore.Request(
            request.method,
            target,
            headers=request.headers.raw,
            content=request.read(),
            extensions=request.extensions,
        )
        try:
            answer = self._pool.handle_request(asked)
            try:
                body = _read(answer)
            finally:
                answer.close()
        except httpcore.TimeoutException as error:
            raise httpx.ReadTimeout(type(error).__name__, request=request) from error
        return httpx.Response(answer.status, headers=answer.headers, content=body, request=request)

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()


def _read(answer: httpcore.Response) -> bytes:
    encodings = [
        value.strip().lower() for name, value in answer.headers if name.lower() == b"content-encoding"
    ]
    if any(encoding not in {b"", b"identity"} for encoding in encodings):
        raise AnswerRefused("an encoded body")
    body = bytearray()
    for piece in answer.iter_stream():
        body += piece
        if len(body) > MAX_ANSWER_BYTES:
            raise AnswerRefused(f"longer than {MAX_ANSWER_BYTES} bytes")
    return bytes(body)


class _WalledBackend(httpcore.NetworkBackend):
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - httpcore's signature; the wall is shorter
        local_address: str | None = None,  # noqa: ARG002 - same
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002 - same
    ) -> httpcore.NetworkStream:
        with _as_httpcore(httpcore.ConnectTimeout, httpcore.ConnectError):
            return _WalledStream(connect(host, port))


class _WalledStream(httpcore.NetworkStream):
    """Every time-out given here is longer than what the wall leaves, so it is not looked at."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._used_at = self._given_until = time.monotonic()

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 - see above
        with _as_httpcore(httpcore.ReadTimeout, httpcore.ReadError):
            received = self._sock.recv(max_bytes)
        self._used_at = time.monotonic()
        return received

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002 - see above
        if not buffer:
            return  # the end of every request is written as nothing
        with _as_httpcore(httpcore.WriteTimeout, httpcore.WriteError):
            self._sock.sendall(buffer)

    def close(self) -> None:
        self._sock.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002 - see above
    ) -> httpcore.NetworkStream:
        with _as_httpcore(httpcore.ConnectTimeout, httpcore.ConnectError):
            try:
                return _WalledStream(ssl_context.wrap_socket(self._sock, server_hostname=server_hostname))
            except BaseException:
                self.close()
                raise

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - httpcore's signature
        """Answer whether an idle connection is past use: closed, written to, or too old."""
        if info != "is_readable":
            return None
        now = time.monotonic()
        if now - self._used_at < KEEPALIVE_SECONDS:
            self._given_until = now + GIVEN_SECONDS
        elif now >= self._given_until:
            return True
        poll = select.poll()
        poll.register(self._sock, select.POLLIN)
        return bool(poll.poll(0))


@contextmanager
def _as_httpcore(too_late: type[Exception], broken: type[Exception]) -> Generator[None]:
    try:
        yield
    except TimeoutError as error:
        raise too_late(str(error)) from error
    except OSError as error:
        raise broken(str(error)) from error
