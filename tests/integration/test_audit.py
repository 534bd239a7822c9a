"""The Redis mirror: a hash per turn and one capped stream, each state copied once, the ledger ahead."""

from dataclasses import replace
from typing import Any

import pytest
import redis

from refund_agent.adapters.redis_audit import STREAM, STREAM_LENGTH, RedisAudit
from refund_agent.adapters.redis_client import connect
from refund_agent.outcomes import GateState, RefundRecord

CLAIMED = RefundRecord("t-1", "claimed", "A1", 500, "1.0")
PAID = RefundRecord("t-1", "paid", "A1", 500, "1.0", "rf-1", "succeeded")


def streamed_states(client: redis.Redis) -> list[bytes]:
    entries: Any = client.xrange(STREAM)
    return [entry[b"state"] for _, entry in entries]


def test_a_row_becomes_a_hash_and_an_entry_of_the_stream(redis_client: redis.Redis) -> None:
    assert RedisAudit(redis_client).mirror(CLAIMED)
    copied = redis_client.hgetall("refunds:t-1")
    assert (copied[b"state"], copied[b"refund_attempted"], copied[b"amount_cents"]) == (
        b"claimed",
        b"1",
        b"500",
    )
    assert streamed_states(redis_client) == [b"claimed"]


def test_the_same_state_is_copied_once(redis_client: redis.Redis) -> None:
    audit = RedisAudit(redis_client)
    for record in (CLAIMED, CLAIMED, PAID, PAID):
        assert audit.mirror(record)
    assert streamed_states(redis_client) == [b"claimed", b"paid"]


@pytest.mark.parametrize(
    ("later", "earlier"),
    [("unknown", "claimed"), ("paid", "claimed"), ("paid", "unknown"), ("not_sent", "unknown")],
)
def test_a_late_copy_never_covers_what_came_after_it(
    redis_client: redis.Redis, later: GateState, earlier: GateState
) -> None:
    audit = RedisAudit(redis_client)
    audit.mirror(replace(CLAIMED, state=later))
    audit.mirror(replace(CLAIMED, state=earlier))
    assert redis_client.hget("refunds:t-1", "state") == later.encode()
    assert streamed_states(redis_client) == [later.encode()]


@pytest.mark.parametrize("resolved", ["paid", "not_sent"])
def test_what_a_person_found_covers_unknown(redis_client: redis.Redis, resolved: GateState) -> None:
    audit = RedisAudit(redis_client)
    for state in ("claimed", "unknown", resolved):
        audit.mirror(replace(CLAIMED, state=state))
    assert streamed_states(redis_client) == [b"claimed", b"unknown", resolved.encode()]


def test_the_stream_is_capped(redis_client: redis.Redis) -> None:
    for number in range(STREAM_LENGTH + 500):
        redis_client.xadd(STREAM, {"n": number})
    RedisAudit(redis_client).mirror(CLAIMED)
    assert redis_client.xlen(STREAM) < STREAM_LENGTH + 200


def test_redis_away_is_said_and_never_raised() -> None:
    assert RedisAudit(connect("redis://127.0.0.1:1/0", connections=1)).mirror(CLAIMED) is False
