"""Sessions in Redis, which ends them in time. Only a hash of an id is kept: what is there opens nothing."""

import hashlib
import json
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

import redis

from refund_agent.identity import Staff
from refund_agent.sessions import Session, SessionsUnavailable

ID_BYTES = 32
MAX_ID_LENGTH = 64


class RedisSessions:
    """Implements the port `Sessions`."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def begin(self, staff: Staff, *, seconds: int) -> str:
        """Begin a session that ends by itself after `seconds`; return its secret id."""
        session_id = secrets.token_urlsafe(ID_BYTES)
        kept = {
            "staff": staff.id,
            "name": staff.name,
            "may_write": staff.may_write,
            "csrf": secrets.token_urlsafe(ID_BYTES),
        }
        with _asking():
            self._client.set(_key(session_id), json.dumps(kept), ex=seconds)
        return session_id

    def find(self, session_id: str) -> Session | None:
        """Return the session of this id, or None."""
        if not 0 < len(session_id) <= MAX_ID_LENGTH:
            return None
        with _asking():
            value = cast("bytes | None", self._client.get(_key(session_id)))
        if value is None:
            return None
        kept: dict[str, Any] = json.loads(value)
        return Session(Staff(kept["staff"], kept["name"], may_write=kept["may_write"]), kept["csrf"])

    def end(self, session_id: str) -> None:
        """End a session, if it is there."""
        with _asking():
            self._client.delete(_key(session_id))


@contextmanager
def _asking() -> Generator[None]:
    try:
        yield
    except redis.RedisError as error:
        raise SessionsUnavailable(type(error).__name__) from error


def _key(session_id: str) -> str:
    return f"sessions:{hashlib.sha256(session_id.encode('utf-8', 'surrogatepass')).hexdigest()}"
