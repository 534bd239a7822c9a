"""One-use tickets in Redis: it expires them, and GETDEL lets exactly one request have each."""

import hashlib
import json
import secrets
from typing import Any, cast

import redis
import structlog

from refund_agent.identity import TICKET_SECONDS, Customer, Identity, Staff, TicketsUnavailable

log = structlog.stdlib.get_logger(__name__)

TICKET_BYTES = 32
MAX_TICKET_LENGTH = 64


class RedisTickets:
    """Implements the port `Tickets`. Keeps a hash only: what is in Redis cannot be used as a ticket."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def issue(self, identity: Identity, *, path: str) -> str:
        """Return a new ticket for this identity at this path; raise `TicketsUnavailable`."""
        ticket = secrets.token_urlsafe(TICKET_BYTES)
        value = json.dumps({"path": path, **_write(identity)})
        try:
            self._client.set(_key(ticket), value, ex=TICKET_SECONDS)
        except redis.RedisError as error:
            raise TicketsUnavailable(type(error).__name__) from error
        return ticket

    def redeem(self, ticket: str, *, path: str) -> Identity | None:
        """Use a ticket up and return its identity; a ticket of another path is used up as well."""
        if not 0 < len(ticket) <= MAX_TICKET_LENGTH:
            return None
        try:
            value = cast("bytes | None", self._client.getdel(_key(ticket)))
        except redis.RedisError as error:
            raise TicketsUnavailable(type(error).__name__) from error
        kept: dict[str, Any] = json.loads(value) if value else {}
        if kept.get("path") != path:
            return None
        return _read(kept)


def _key(ticket: str) -> str:
    return f"tickets:{hashlib.sha256(ticket.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _write(identity: Identity) -> dict[str, object]:
    match identity:
        case Customer(customer_id):
            return {"customer": customer_id}
        case Staff(staff_id, name, may_write):
            return {"staff": staff_id, "name": name, "may_write": may_write}


def _read(kept: dict[str, Any]) -> Identity:
    if "customer" in kept:
        return Customer(kept["customer"])
    return Staff(kept["staff"], kept["name"], may_write=kept["may_write"])
