"""The wake-up channel: a worker says "this turn has ended", every web process hears it. Only a hint."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

import redis
import structlog

from refund_agent.ports import SignalsUnavailable

log = structlog.stdlib.get_logger(__name__)

CHANNEL = "turns:ended"


class RedisSignals:
    """Implements the port `Signals`."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def publish(self, turn_id: str) -> None:
        """Wake whoever waits; a lost wake-up is covered by the waiting room's own look at SQL."""
        try:
            self._client.publish(CHANNEL, turn_id)
        except redis.RedisError as error:
            log.warning("wake_up_lost", turn_id=turn_id, error=type(error).__name__)

    @contextmanager
    def listen(self) -> Generator["RedisListener"]:
        """Subscribe for as long as the context is open; raises `SignalsUnavailable`."""
        subscription = self._client.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]  # redis-py's own
        try:
            subscription.subscribe(CHANNEL)
            yield RedisListener(subscription)
        except redis.RedisError as error:
            raise SignalsUnavailable(type(error).__name__) from error
        finally:
            with suppress(redis.RedisError):
                subscription.close()


class RedisListener:
    """Implements the port `Listener`."""

    def __init__(self, subscription: Any) -> None:  # noqa: ANN401 - redis-py's PubSub is untyped
        self._subscription = subscription

    def next(self, *, seconds: float) -> str | None:
        """Return the next turn id, or None after `seconds` without one."""
        message = self._subscription.get_message(timeout=seconds)
        if message is None:
            return None
        data = message["data"]
        return data.decode("utf-8", "replace") if isinstance(data, bytes) else None
