"""The Redis mirror: a hash per turn and one capped stream, each state copied once, the ledger ahead."""

from typing import Any

import redis

from refund_agent.adapters.redis_audit import STREAM, STREAM_LENGTH, RedisAudit
from refund_agent.adapters.redis_client import connect
from refund_agent.outcomes import RefundRecord

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


def test_a_late_copy_of_the_claim_never_covers_the_settled_row(redis_client: redis.Redis) -> None:
    audit = RedisAudit(redis_client)
    audit.mirror(PAID)
    audit.mirror(CLAIMED)
    assert redis_client.hget("refunds:t-1", "state") == b"paid"


def test_the_stream_is_capped(redis_client: redis.Redis) -> None:
    for number in range(STREAM_LENGTH + 500):
        redis_client.xadd(STREAM, {"n": number})
    RedisAudit(redis_client).mirror(CLAIMED)
    assert redis_client.xlen(STREAM) < STREAM_LENGTH + 200


def test_redis_away_is_said_and_never_raised() -> None:
    assert RedisAudit(connect("redis://127.0.0.1:1/0", connections=1)).mirror(CLAIMED) is False
