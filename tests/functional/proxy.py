"""A TCP proxy that can fail on purpose: what stands between a service and its Redis or database.

    with TcpProxy(target_port) as proxy:
        ... proxy.port
        proxy.freeze()      # connections stay, not a byte goes on
        proxy.heal()

One thread a connection, so that a TLS connection is never used by two at once.
"""

import contextlib
import selectors
import socket
import ssl
import threading
from typing import Literal, Self, TypeAlias

READ_BYTES = 64 * 1024
HANDSHAKE_SECONDS = 5.0
JOIN_SECONDS = 5.0
HOLD_SECONDS = 20.0
BLOCKERS = 3
"""With a backlog of 0 Linux queues one connection; these fill it, and the next SYN goes unanswered."""

Mode: TypeAlias = Literal["forward", "frozen", "refused", "black hole"]


class TcpProxy:
    """Forwards `port` to `target_port` on loopback, until told otherwise. `tls` ends TLS on its way in."""

    def __init__(self, target_port: int, *, tls: ssl.SSLContext | None = None) -> None:
        self._target = ("127.0.0.1", target_port)
        self._tls = tls
        self._changed = threading.Condition()
        self._mode: Mode = "forward"
        self._cut_after = b""
        self._until: threading.Event | None = None
        self._pairs: dict[threading.Thread, tuple[socket.socket, ...]] = {}
        self._blockers: list[socket.socket] = []
        self.cuts = 0
        self.port = 0

    def __enter__(self) -> Self:
        self._listen()
        return self

    def __exit__(self, *_: object) -> None:
        self._close("refused")

    def heal(self) -> None:
        """Forward again, as if nothing had been."""
        with self._changed:
            was, self._mode, self._cut_after = self._mode, "forward", b""
            self._changed.notify_all()
        if was in {"refused", "black hole"}:
            self._stop_listening()
            self._listen()

    def freeze(self) -> None:
        """Keep all connections and accept new ones, but let no byte through."""
        with self._changed:
            self._mode = "frozen"

    def refuse(self) -> None:
        """Drop every connection, and refuse new ones."""
        self._close("refused")

    def swallow(self) -> None:
        """Drop every connection, and leave new ones without any answer to their SYN: a black hole."""
        self._close("black hole")
        self._listener = _bound_socket(self.port)
        self._listener.listen(0)
        for _ in range(BLOCKERS):
            blocker = socket.socket()
            blocker.setblocking(False)  # noqa: FBT003 - socket's own signature
            blocker.connect_ex(("127.0.0.1", self.port))
            self._blockers.append(blocker)

    def cut_after(self, word: bytes, *, until: threading.Event | None = None) -> None:
        """Let a request that contains `word` through, and drop its connection in place of the answer.

        The connection is kept, unanswered, until `until` is set.
        """
        with self._changed:
            self._cut_after, self._until = word, until

    # --- listening --------------------------------------------------------------------------------

    def _listen(self) -> None:
        self._listener = _bound_socket(self.port)
        self._listener.listen(512)
        self.port = self._listener.getsockname()[1]
        self._acceptor = threading.Thread(target=self._accept, args=(self._listener,), daemon=True)
        self._acceptor.start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:  # shut down by `_stop_listening`
                return
            thread = threading.Thread(target=self._carry, args=(client,), daemon=True)
            with self._changed:
                self._pairs[thread] = (client,)
            thread.start()

    def _stop_listening(self) -> None:
        for blocker in self._blockers:
            blocker.close()
        self._blockers.clear()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the acceptor
        self._acceptor.join(JOIN_SECONDS)
        self._listener.close()

    def _close(self, mode: Mode) -> None:
        """Stop listening and drop every connection."""
        with self._changed:
            self._mode = mode
            self._changed.notify_all()
        self._stop_listening()
        with self._changed:
            pairs = dict(self._pairs)
        for sockets in pairs.values():
            for one in sockets:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        for thread in pairs:
            thread.join(JOIN_SECONDS)

    # --- carrying ---------------------------------------------------------------------------------

    def _carry(self, client: socket.socket) -> None:
        thread = threading.current_thread()
        try:
            with contextlib.suppress(OSError), client:
                near = self._shake_hands(client)
                with near, socket.create_connection(self._target, timeout=HANDSHAKE_SECONDS) as far:
                    far.settimeout(None)
                    with self._changed:
                        self._pairs[thread] = (near, far)
                    self._forward(near, far)
        finally:
            with self._changed:
                del self._pairs[thread]

    def _shake_hands(self, client: socket.socket) -> socket.socket:
        if self._tls is None:
            return client
        client.settimeout(HANDSHAKE_SECONDS)
        wrapped = self._tls.wrap_socket(client, server_side=True)
        wrapped.settimeout(None)
        return wrapped

    def _forward(self, near: socket.socket, far: socket.socket) -> None:
        """Carry bytes both ways until one side ends or the proxy drops the connection."""
        with selectors.DefaultSelector() as selector:
            selector.register(near, selectors.EVENT_READ, far)
            selector.register(far, selectors.EVENT_READ, near)
            while True:
                for key, _ in selector.select():
                    source, sink = key.fileobj, key.data
                    assert isinstance(source, socket.socket)
                    if not self._may_go_on() or not self._pass_on(source, sink, from_client=source is near):
                        return

    def _may_go_on(self) -> bool:
        """Wait while frozen; False when the connection is to be dropped."""
        with self._changed:
            self._changed.wait_for(lambda: self._mode != "frozen")
            return self._mode == "forward"

    def _pass_on(self, source: socket.socket, sink: socket.socket, *, from_client: bool) -> bool:
        data = source.recv(READ_BYTES)
        while isinstance(source, ssl.SSLSocket) and source.pending():
            data += source.recv(READ_BYTES)
        if not data:
            return False
        sink.sendall(data)
        if from_client and self._cut_after and self._cut_after in data:
            # Only once the far side has it for sure: its answer is here, and goes nowhere.
            sink.recv(READ_BYTES)
            if self._until is not None:
                self._until.wait(HOLD_SECONDS)
            self.cuts += 1
            return False
        return True


def _bound_socket(port: int) -> socket.socket:
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    return bound
