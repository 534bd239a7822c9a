"""The audit mirror: a hash per turn and one capped stream of all refund events. The ledger is the truth."""

import redis
import structlog

from refund_agent.outcomes import RefundRecord

log = structlog.stdlib.get_logger(__name__)

STREAM = "refunds:events"
STREAM_LENGTH = 10_000
KEEP_SECONDS = 90 * 24 * 3600

# Copies a row once per state, and never lets a late copy cover what came after it: a sweeper may be held
# up for long between reading a row and copying it.
_COPY = """
local step = {claimed = 1, unknown = 2}
local known = redis.call('HGET', KEYS[1], 'state')
if known and (step[known] or 3) >= (step[ARGV[3]] or 3) then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 4))
redis.call('EXPIRE', KEYS[1], ARGV[1])
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[2], '*', unpack(ARGV, 4))
return 1
"""


class RedisAudit:
    """Implements the port `Audit`."""

    def __init__(self, client: redis.Redis) -> None:
        self._copy = client.register_script(_COPY)

    def mirror(self, record: RefundRecord) -> bool:
        """Copy a row; False when Redis did not take it, and then the sweeper copies it later."""
        fields = {
            "turn_id": record.turn_id,
            "state": record.state,
            "refund_attempted": "0" if record.state == "closed" else "1",
            "order_id": record.order_id,
            "amount_cents": str(record.amount_cents),
            "call": record.call,
            "refund_id": record.refund_id,
        }
        flat = [part for pair in fields.items() for part in pair]
        try:
            self._copy(
                keys=[f"refunds:{record.turn_id}", STREAM],
                args=[KEEP_SECONDS, STREAM_LENGTH, record.state, *flat],
            )
        except redis.RedisError as error:
            log.warning("audit_mirror_behind", turn_id=record.turn_id, error=type(error).__name__)
            return False
        return True
