"""A request that a stand-in keeps waiting: each moment of it can be awaited, and none is guessed."""

import threading
from collections.abc import Callable

from sandbox.answers import Raw, Reply, Wire

PATIENCE_SECONDS = 20.0
LONGEST_SECONDS = 60.0


class NotReached(Exception):
    """What was awaited did not happen in time: the run says nothing about the service."""


class Hold:
    """One answer, given when told to. `arrived`: the request is here; `left`: the client hung up.

    A client hangs up when it has read the answer (which says `Connection: close`), or when it died.
    """

    def __init__(self) -> None:
        self.arrived = threading.Event()
        self._released = threading.Event()
        self._left = threading.Event()

    def release(self) -> None:
        """Answer now, or at once when the request comes later."""
        self._released.set()

    def wait_until_arrived(self) -> None:
        """Wait for the request."""
        if not self.arrived.wait(PATIENCE_SECONDS):
            raise NotReached("no request arrived")

    def wait_until_left(self) -> None:
        """Wait until the client has read the answer, or is gone."""
        if not self._left.wait(PATIENCE_SECONDS):
            raise NotReached("the client did not hang up")

    def answer(
        self,
        make: Callable[[], Reply],
        *,
        on_arrival: Callable[[], None] = lambda: None,
        on_release: Callable[[], None] = lambda: None,
    ) -> Raw:
        """Give what `make` returns, once released; the two callables are the request's effects."""

        def play(wire: Wire) -> None:
            on_arrival()
            self.arrived.set()
            self._released.wait(LONGEST_SECONDS)
            on_release()
            try:
                wire.send(_closing(make()).encode())
                wire.wait_until_gone()
            finally:
                self._left.set()

        return play


def _closing(reply: Reply) -> Reply:
    return Reply(reply.status, reply.body, reply.content_type, (*reply.headers, ("Connection", "close")))
