"""Gunicorn's thread worker, with a time limit for a request's headers.

Gunicorn reads headers without one: measured, as many dripping clients as there are threads stop the
service for good. A body's limit is web/body.py's; this one has to be where the socket is first read.
"""

import errno
import socket
import time
from contextlib import suppress
from typing import Any, ClassVar

from gunicorn.workers.gthread import ThreadWorker


class WalledThreadWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A thread worker that hangs up on whoever has not sent its headers in time."""

    header_seconds: ClassVar[float] = 10.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - gunicorn's own arguments
        super().__init__(*args, **kwargs)
        self._reading: dict[Any, float] = {}

    def handle(self, conn: Any) -> Any:  # noqa: ANN401 - gunicorn's own types
        """Read one request and answer it, in a thread of the pool."""
        self._reading[conn] = time.monotonic() + self.header_seconds
        try:
            return super().handle(conn)
        finally:
            self._reading.pop(conn, None)

    def handle_request(self, req: Any, conn: Any) -> Any:  # noqa: ANN401 - gunicorn's own types
        """Answer a request whose headers are here."""
        self._reading.pop(conn, None)
        try:
            return super().handle_request(req, conn)
        except TimeoutError as late:  # a stream's client that takes nothing, see web/turn_events.py
            raise BrokenPipeError(errno.EPIPE, "the client takes nothing") from late

    def murder_pending(self) -> None:
        """Hang up on late connections; the worker's main loop calls this about once a second."""
        super().murder_pending()
        now = time.monotonic()
        for conn, deadline in list(self._reading.items()):
            if now > deadline:
                with suppress(OSError):
                    conn.sock.shutdown(socket.SHUT_RDWR)
