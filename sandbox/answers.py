"""What goes over the wire: requests, answers, and the bare connection for an answer that misbehaves.

An answer is a `Reply`, a `Delayed` one, or a `Raw`: a function that writes to the wire itself, after
which the connection is closed.
"""

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeAlias, TypeGuard

READ_BYTES = 64 * 1024
NO_BODY = frozenset({204, 304})

Json: TypeAlias = Any
"""A JSON value, of any shape until looked at."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request, read whole. Header names are in lower case; `number` counts on its connection from 1."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""
    number: int = 1

    def json(self) -> Json:
        """Return the body as JSON, or None when it is not."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


@dataclass(frozen=True, slots=True)
class Reply:
    """An ordinary answer; Content-Length is added."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()

    def encode(self) -> bytes:
        """Return the answer as it goes on the wire."""
        if self.status in NO_BODY:
            return head(self.status, *self.headers)
        length = str(len(self.body))
        return (
            head(self.status, ("Content-Type", self.content_type), ("Content-Length", length), *self.headers)
            + self.body
        )


@dataclass(frozen=True, slots=True)
class Delayed:
    """An answer that is given some seconds later."""

    seconds: float
    answer: "Reply | Raw"


class Gone(ConnectionError):
    """The client went away, or the server is stopping: nobody is left to answer."""


class Wire:
    """One connection in the hands of an answer that misbehaves. Every wait ends when nobody is left."""

    def __init__(self, connection: socket.socket, stopping: threading.Event) -> None:
        self._connection = connection
        self._stopping = stopping

    def send(self, data: bytes) -> None:
        """Send all of `data`; raise an OSError when the client is gone."""
        self._connection.sendall(data)

    def drip(self, data: bytes, *, interval_seconds: float) -> None:
        """Send one byte at a time; raise `Gone` when nobody is left."""
        for i in range(len(data)):
            self.send(data[i : i + 1])
            self.wait(interval_seconds)

    def wait(self, seconds: float | None) -> None:
        """Say nothing for this long (None: for ever); raise `Gone` as soon as nobody is left.

        What the client still sends is thrown away. Stopping shuts the socket down, which wakes us.
        """
        self._connection.settimeout(seconds)
        try:
            while self._connection.recv(READ_BYTES):
                pass
            raise Gone
        except TimeoutError:
            self._connection.settimeout(None)

    def wait_until_gone(self) -> None:
        """Say nothing until the client goes away or the server stops."""
        with contextlib.suppress(OSError):
            self.wait(None)

    def outlive(self, seconds: float) -> bool:
        """Wait, client or no client; False when the server is stopping."""
        return not self._stopping.wait(seconds)

    def reset(self) -> None:
        """Make the close that follows a TCP reset."""
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


Raw: TypeAlias = Callable[[Wire], None]
Answer: TypeAlias = Reply | Delayed | Raw


def head(status: int, *headers: tuple[str, str]) -> bytes:
    """Return a status line and headers, ended by the empty line."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Unassigned"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def as_json(value: object, status: int = 200, *headers: tuple[str, str]) -> Reply:
    """Return `value` as a JSON answer."""
    return Reply(status, json.dumps(value).encode(), headers=headers)


def is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: Json) -> TypeGuard[list[Json]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)
