"""Who is alive: every process says so now and then, with one count. No refund depends on it."""

from typing import cast

import redis
import structlog

log = structlog.stdlib.get_logger(__name__)

FORGET_SECONDS = 60


class RedisPresence:
    """A hash a kind of process: field = process, value = `<redis time> <count>`."""

    def __init__(self, client: redis.Redis, *, kind: str) -> None:
        self._client = client
        self._key = f"presence:{kind}"

    def beat(self, process: str, count: int) -> None:
        """Say that `process` lives, and its count; never raises."""
        try:
            self._client.hset(self._key, process, f"{self._now()} {count}")
            self._client.expire(self._key, FORGET_SECONDS)
        except redis.RedisError as error:
            log.debug("presence_not_told", error=type(error).__name__)

    def alive(self, *, within_seconds: float) -> dict[str, int]:
        """Return the counts of those heard of lately, and forget the long gone; may raise `RedisError`."""
        now = self._now()
        found: dict[str, int] = {}
        for process, value in cast("dict[bytes, bytes]", self._client.hgetall(self._key)).items():
            beaten_at, count = (int(part) for part in value.split())
            if now - beaten_at <= within_seconds:
                found[process.decode()] = count
            elif now - beaten_at > FORGET_SECONDS:
                self._client.hdel(self._key, process)
        return found

    def leave(self, process: str) -> None:
        """Say that `process` is going; never raises."""
        try:
            self._client.hdel(self._key, process)
        except redis.RedisError as error:
            log.debug("presence_not_told", error=type(error).__name__)

    def _now(self) -> int:
        seconds, _ = self._client.time()
        return seconds
