"""Events on their way to whoever watches: a short-lived Redis stream a turn. The table is the record."""

import json
from collections.abc import Mapping
from typing import Any, Final, cast

import redis
import structlog

from refund_agent.journal import Event, LiveUnavailable, Pause
from refund_agent.ports import Clock

log = structlog.stdlib.get_logger(__name__)

KEEP_SECONDS: Final = 3600
STREAM_LENGTH: Final = 500
MOST_AT_ONCE: Final = 100
LOST: Final = "events:lost"


class RedisLive:
    """Implements the port `LiveEvents`: `live:<turn id>` holds the turn's latest events for an hour."""

    SECONDS_OF_PAUSE: Final = 5.0

    def __init__(self, client: redis.Redis, *, clock: Clock) -> None:
        self._client = client
        self._pause = Pause(clock, seconds=self.SECONDS_OF_PAUSE)

    def publish(self, event: Event) -> None:
        """Show an event, within a second; after a failure show nothing for a while."""
        if self._pause.is_on:
            return
        fields: dict[Any, Any] = {
            "seq": event.seq,
            "kind": event.kind,
            "body": json.dumps(event.body, ensure_ascii=False, separators=(",", ":")),
            "at_ms": event.at_ms,
        }
        key = _key(event.turn_id)
        try:
            with self._client.pipeline(transaction=False) as pipe:
                pipe.xadd(key, fields, maxlen=STREAM_LENGTH, approximate=True)
                pipe.expire(key, KEEP_SECONDS)
                pipe.execute()
        except redis.RedisError as error:
            self._pause.begin()
            log.warning("event_not_shown", turn_id=event.turn_id, error=type(error).__name__)

    def read(self, after: Mapping[str, str], *, seconds: float) -> list[tuple[str, Event]]:
        """Return what was published after each turn's position; waits at most `seconds` for the first."""
        streams: dict[Any, Any] = {_key(turn_id): position for turn_id, position in after.items()}
        try:
            found = self._client.xread(streams, count=MOST_AT_ONCE, block=max(1, round(seconds * 1000)))
        except redis.RedisError as error:
            raise LiveUnavailable(type(error).__name__) from error
        heard: list[tuple[str, Event]] = []
        for key, entries in cast("list[tuple[bytes, list[tuple[bytes, dict[bytes, bytes]]]]]", found):
            turn_id = key.decode().removeprefix(_key(""))
            heard.extend((position.decode(), _event(turn_id, fields)) for position, fields in entries)
        return heard

    def disconnect(self) -> None:
        """Close the connections of this client's pool; the next use opens them anew."""
        self._client.connection_pool.disconnect()

    def count_lost(self) -> None:
        """Count one lost event for the figures."""
        if self._pause.is_on:
            return
        try:
            self._client.incr(LOST)
        except redis.RedisError:
            self._pause.begin()


def _key(turn_id: str) -> str:
    return f"live:{turn_id}"


def _event(turn_id: str, fields: Mapping[bytes, bytes]) -> Event:
    kind: Any = fields[b"kind"].decode()
    return Event(turn_id, int(fields[b"seq"]), kind, json.loads(fields[b"body"]), int(fields[b"at_ms"]))
