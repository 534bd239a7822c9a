"""Tells Flower the phases of running turns, as live task states.

Sending costs a broker round trip, so one thread sends what has gathered, as one message; when the broker is
slow phases are dropped, never waited for.
"""

import queue
import threading

import redis
import structlog
from celery import Celery
from kombu.exceptions import OperationalError

log = structlog.stdlib.get_logger(__name__)

MAX_WAITING = 1000
GATHER_SECONDS = 0.25
"""A message costs half a millisecond of CPU, a further phase in it next to nothing."""
PAUSE_SECONDS = 1.0
GROUP = frozenset({"task"})


class PhaseSender:
    """Sends `task-<phase>` events from its own thread."""

    def __init__(self, app: Celery, *, hostname: str) -> None:
        self._app = app
        self._hostname = hostname
        self._waiting: queue.Queue[tuple[str, str]] = queue.Queue(MAX_WAITING)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._send_all, name="phases", daemon=True)

    def start(self) -> None:
        """Start sending."""
        self._thread.start()

    def stop(self) -> None:
        """Send what is waiting, for at most two seconds."""
        self._stopping.set()
        self._thread.join(timeout=2.0)

    def send(self, turn_id: str, phase: str) -> None:
        """Hand one phase to the sender; dropped when it is far behind."""
        try:
            self._waiting.put_nowait((turn_id, phase))
        except queue.Full:
            log.debug("phase_dropped", turn_id=turn_id, phase=phase)

    def _send_all(self) -> None:
        while not self._stopping.wait(GATHER_SECONDS):
            self._send_waiting()
        self._send_waiting()

    def _send_waiting(self) -> None:
        """Send what waits as one message, over a connection of the broker pool."""
        if self._waiting.empty():
            return
        try:
            with self._app.events.default_dispatcher(hostname=self._hostname) as dispatcher:
                dispatcher.buffer_group = GROUP
                for _ in range(self._waiting.qsize()):
                    turn_id, phase = self._waiting.get_nowait()
                    dispatcher.send(f"task-{phase}", uuid=turn_id)
                dispatcher.flush(errors=False)
        except (redis.RedisError, OperationalError, OSError) as error:
            log.warning("phases_not_sent", error=type(error).__name__)
            self._stopping.wait(PAUSE_SECONDS)
