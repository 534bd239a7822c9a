"""Gunicorn's thread worker, with a time limit for a request's headers, and an answer for all at the end.

Gunicorn reads headers without a limit: measured, as many dripping clients as there are threads stop the
service for good. A body's limit is web/body.py's; this one has to be where the socket is first read.
And it would cut off whoever still waits when its grace is over: docs/decisions/0005-drain.md.
"""

import errno
import math
import socket
import time
from contextlib import suppress
from types import FrameType
from typing import Any, ClassVar, cast

from flask import Flask
from gunicorn.workers.gthread import ThreadWorker

from web.services import STOP_WAITING


class WalledThreadWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Hangs up on whoever has not sent its headers in time; told to stop, answers all who wait in time."""

    header_seconds: ClassVar[float] = 10.0
    answer_all_seconds: ClassVar[float] = 20.0
    """After SIGTERM, which comes 30 s before SIGKILL: time enough for a database that is slow to answer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - gunicorn's own arguments
        super().__init__(*args, **kwargs)
        self._reading: dict[Any, float] = {}
        self._answer_all_at = math.inf

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

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGTERM: take no new work, and note when those who then still wait must be answered.

        No timer is started here: a signal handler may have interrupted whoever holds the threads' lock.
        """
        if self.alive:
            self._answer_all_at = time.monotonic() + self.answer_all_seconds
        super().handle_exit(sig, frame)

    def murder_pending(self) -> None:
        """Hang up on late connections; the worker's main loop calls this about once a second."""
        super().murder_pending()
        now = time.monotonic()
        if now >= self._answer_all_at:
            self._answer_all_at = math.inf
            cast("Flask", self.wsgi).extensions[STOP_WAITING]()
        for conn, deadline in list(self._reading.items()):
            if now > deadline:
                with suppress(OSError):
                    conn.sock.shutdown(socket.SHUT_RDWR)
