"""The broker, for whoever queues a turn: one message that carries one id."""

import redis
from celery import Celery
from kombu.exceptions import OperationalError

from refund_agent.ports import QUEUE, QueueUnavailable

TASK = "turns.run"


class CeleryQueue:
    """Implements the port `Queue`."""

    def __init__(self, app: Celery, *, doorbell: redis.Redis, deadline_seconds: float) -> None:
        self._app = app
        self._doorbell = doorbell
        self._deadline_seconds = deadline_seconds

    def put(self, turn_id: str) -> None:
        """Publish once; raise `QueueUnavailable` within 3 s, and then the message may be queued all the same.

        The doorbell is a ping with a limit of one second: with Redis frozen it keeps callers from queueing
        up behind Celery's two publisher connections, where the last would wait 4 to 8 s.
        """
        try:
            self._doorbell.ping()
            self._app.send_task(
                TASK, args=[turn_id], task_id=turn_id, expires=self._deadline_seconds, retry=False
            )
        except (redis.RedisError, OperationalError, OSError) as error:
            raise QueueUnavailable(type(error).__name__) from error

    def is_empty(self) -> bool:
        """Whether no message waits for a worker; raise `QueueUnavailable`."""
        try:
            return self._doorbell.llen(QUEUE) == 0
        except redis.RedisError as error:
            raise QueueUnavailable(type(error).__name__) from error
