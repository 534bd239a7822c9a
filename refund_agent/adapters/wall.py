"""A hard limit on the seconds of one outside call, whatever the other side drips.

The time-out of an HTTP library starts anew with every read, so a peer that sends a byte now and then
holds a call for as long as it likes (measured: a time-out of 1 s took 19 s). Here the sockets
themselves know when the call must end: before every step that can block they take what is left as
their time-out, and when nothing is left they raise `TimeoutError`. No thread watches the call, so
nothing races, and a wall that was reached can never look like an honest end of the answer.

The call also remembers how far it came, which is what proves that no byte of a request left.
"""

import math
import queue
import socket
import ssl
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from requests.utils import DEFAULT_CA_BUNDLE_PATH

from refund_agent.adapters.system_clock import monotonic

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

MAX_ADDRESSES = 8
"""How many addresses of one name are tried; the time that is left is shared among them."""

Stage: TypeAlias = Literal["preparing", "resolving", "connecting", "connected", "sending"]
"""How far a call came. Before `sending` no byte of the request has left, only the TLS handshake's."""

_Address: TypeAlias = tuple[socket.AddressFamily, socket.SocketKind, int, str, Any]


@dataclass(slots=True)
class OutsideCall:
    """One call to an outside system: when it must end, and how far it came. Times are monotonic seconds.

    `send_by`: when the first byte of the request must have left, if it may leave at all.
    """

    ends_at: float
    send_by: float = math.inf
    stage: Stage = "preparing"

    def seconds_left(self) -> float:
        """Return how long the next step may block; raise `TimeoutError` when nothing is left."""
        left = self.ends_at - monotonic()
        if left <= 0:
            raise TimeoutError("the call's time is over")
        return left

    def begin_to_send(self) -> None:
        """Remember that bytes may leave from now on; raise `TimeoutError` when it is too late to begin."""
        if self.stage != "sending" and monotonic() > self.send_by:
            raise TimeoutError("it is too late to send")
        self.stage = "sending"


_current: ContextVar[OutsideCall] = ContextVar("current_outside_call")


@contextmanager
def outside_call(seconds: float, *, send_within: float = math.inf) -> Generator[OutsideCall]:
    """Let every walled socket used inside the block end `seconds` from now, in total.

    None begins to send later than `send_within` seconds from now.
    """
    now = monotonic()
    call = OutsideCall(ends_at=now + seconds, send_by=now + send_within)
    token = _current.set(call)
    try:
        yield call
    finally:
        _current.reset(token)


def _step() -> float:
    """Return how long the next blocking step of this thread's call may take."""
    return _current.get().seconds_left()


def _sending_step() -> float:
    """The same for a step that sends the caller's bytes; remembers that some may have left."""
    call = _current.get()
    seconds = call.seconds_left()
    call.begin_to_send()
    return seconds


class WalledSocket(socket.socket):
    """A socket that never blocks beyond the end of the current outside call.

    It asks its thread's context at every step, so a pooled connection serves one call after another.
    Outside of any call it refuses to work.
    """

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        """Receive within what is left."""
        self.settimeout(_step())
        return super().recv(bufsize, flags)

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int = 0, flags: int = 0) -> int:
        """Receive within what is left."""
        self.settimeout(_step())
        return super().recv_into(buffer, nbytes, flags)

    def send(self, data: "ReadableBuffer", flags: int = 0, /) -> int:
        """Send some within what is left."""
        self.settimeout(_sending_step())
        return super().send(data, flags)

    def sendall(self, data: "ReadableBuffer", flags: int = 0, /) -> None:
        """Send everything within what is left."""
        self.settimeout(_sending_step())
        super().sendall(data, flags)


class WalledTlsSocket(ssl.SSLSocket):
    """The same under TLS. The handshake's bytes never pass through `send`, only the caller's do."""

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        """Receive within what is left."""
        self.settimeout(_step())
        return super().recv(buflen, flags)

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int | None = None, flags: int = 0) -> int:
        """Receive within what is left."""
        self.settimeout(_step())
        return super().recv_into(buffer, nbytes, flags)

    def send(self, data: "ReadableBuffer", flags: int = 0) -> int:
        """Send some within what is left; the inherited `sendall` comes here for every piece."""
        self.settimeout(_sending_step())
        return super().send(data, flags)


def tls_context(ca_file: str | None = None) -> ssl.SSLContext:
    """Return a verifying client context whose sockets are walled.

    It trusts `ca_file`, or the bundle that `requests` ships; the environment has no say. Build it once:
    loading the bundle takes some 20 ms.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_verify_locations(cafile=ca_file or DEFAULT_CA_BUNDLE_PATH)
    context.sslsocket_class = WalledTlsSocket
    return context


def connect(host: str, port: int) -> WalledSocket:
    """Open a TCP connection for the current call; raise `OSError`, which `TimeoutError` is."""
    call = _current.get()
    call.stage = "resolving"
    addresses = _resolve(host, port, seconds=call.seconds_left())
    call.stage = "connecting"
    failure = OSError("the name has no address")
    for position, address in enumerate(addresses):
        try:
            sock = _open(address, seconds=call.seconds_left() / (len(addresses) - position))
        except OSError as error:
            failure = error
        else:
            call.stage = "connected"
            return sock
    raise failure


def _open(address: _Address, *, seconds: float) -> WalledSocket:
    family, kind, protocol, _, peer = address
    sock = WalledSocket(family, kind, protocol)
    try:
        sock.settimeout(seconds)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.connect(peer)
        # A TLS handshake follows in one step of OpenSSL's, which takes this as its total.
        sock.settimeout(_current.get().seconds_left())
    except BaseException:
        sock.close()
        raise
    return sock


def _resolve(host: str, port: int, *, seconds: float) -> Sequence[_Address]:
    """Look a name up within `seconds`.

    The resolver cannot be interrupted, so a name is looked up in a thread of its own; one that hangs
    is left behind and ends with the resolver's own time-out.
    """
    try:
        numeric = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=numeric)
    except (OSError, UnicodeError):
        pass  # a name, not an address
    found: queue.SimpleQueue[Sequence[_Address] | Exception] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            found.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except Exception as error:  # noqa: BLE001 - carried to the thread that waits
            found.put(error)

    threading.Thread(target=look_up, name="resolve", daemon=True).start()
    try:
        answer = found.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError("the name was not resolved in time") from None
    if isinstance(answer, OSError):
        raise answer
    if isinstance(answer, Exception):
        raise OSError(f"the name cannot be resolved: {type(answer).__name__}")
    return answer[:MAX_ADDRESSES]
