"""Tells Flower the phase of a running turn, as a live task state.

Sending an event costs a broker round trip, so one thread sends them all; when the broker is slow they are
dropped, never waited for.
"""

import queue
import threading

import structlog
from celery import Celery
from celery.events.dispatcher import EventDispatcher
from kombu.exceptions import OperationalError

log = structlog.stdlib.get_logger(__name__)

MAX_WAITING = 1000


class PhaseSender:
    """Sends `task-<phase>` events from its own thread over its own connection."""

    def __init__(self, app: Celery, *, hostname: str) -> None:
        self._app = app
        self._hostname = hostname
        self._waiting: queue.Queue[tuple[str, str] | None] = queue.Queue(MAX_WAITING)
        self._thread = threading.Thread(target=self._send_all, name="phases", daemon=True)

    def start(self) -> None:
        """Start sending."""
        self._thread.start()

    def stop(self) -> None:
        """Send what is waiting, for at most two seconds."""
        try:
            self._waiting.put_nowait(None)
        except queue.Full:
            return
        self._thread.join(timeout=2.0)

    def send(self, turn_id: str, phase: str) -> None:
        """Hand one phase to the sender; dropped when it is far behind."""
        try:
            self._waiting.put_nowait((turn_id, phase))
        except queue.Full:
            log.debug("phase_dropped", turn_id=turn_id, phase=phase)

    def _send_all(self) -> None:
        while (entry := self._waiting.get()) is not None:
            try:
                with self._app.connection_for_write() as connection:
                    self._send_over(self._app.events.Dispatcher(connection, hostname=self._hostname), entry)
                    return
            except (OperationalError, OSError) as error:
                log.warning("phases_not_sent", error=type(error).__name__)

    def _send_over(self, dispatcher: EventDispatcher, entry: tuple[str, str]) -> None:
        """Send until told to stop; a broken connection ends it by an exception."""
        sending: tuple[str, str] | None = entry
        while sending is not None:
            turn_id, phase = sending
            dispatcher.send(f"task-{phase}", uuid=turn_id, retry=False)
            sending = self._waiting.get()
