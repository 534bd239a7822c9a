"""Rates and daily tokens counted in Redis; in SQL is what the counters are made from again."""

import hashlib
import random
from collections.abc import Callable, Collection
from typing import Final, cast

import redis
import structlog
from limits import parse
from limits.storage import RedisStorage
from limits.strategies import MovingWindowRateLimiter

from refund_agent.limits import (
    OPEN_TURNS_PER_WORKER_SEAT,
    Admission,
    Admitted,
    Asking,
    ConversationFull,
    LimiterAway,
    Limits,
    NoRoom,
    StoredUsage,
    TooFast,
    TooManyTokens,
)

log = structlog.stdlib.get_logger(__name__)

DAY_SECONDS: Final = 24 * 3600
RECOUNT_SECONDS: Final = 900
"""A customer's tokens are counted anew from SQL this often, which mends whatever a counter has missed."""
NO_ROOM_SECONDS: Final = (3, 10)
"""The bounds of the jitter: callers refused together must not come back together."""

# Adds only where a count is known: an absent one is made from SQL, where these tokens are already.
_SPEND: Final = """
if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('INCRBY', KEYS[1], ARGV[1]) end
return 0
"""


class RedisLimits:
    """Implements the port `Limiter`.

    `workers` names those alive (it may raise `RedisError`), each with `seats` turns at a time.
    """

    def __init__(
        self,
        client: redis.Redis,
        *,
        limits: Limits,
        usage: StoredUsage,
        workers: Callable[[], Collection[str]],
        seats: int,
    ) -> None:
        self._client = client
        self._limits = limits
        self._usage = usage
        self._workers = workers
        self._seats = seats
        self._rate = parse(limits.customer_rate)
        # The address is not used: the pool is ours, with its short times and without a second try.
        storage = RedisStorage("redis://", connection_pool=client.connection_pool, key_prefix="limits")
        self._window = MovingWindowRateLimiter(storage)
        self._add = client.register_script(_SPEND)

    def admit(self, asking: Asking) -> Admission:
        """Judge one turn, and count it against the customer's rate; never raises."""
        try:
            return (
                self._too_fast(asking)
                or self._conversation_full(asking)
                or self._no_room()
                or (self._too_many_tokens(asking) or Admitted())
            )
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the limiter, nobody gets past it
            log.error("limiter_away", error=type(error).__name__)  # noqa: TRY400 - the name says it all, once a turn
            return LimiterAway(type(error).__name__)

    def spend(self, customer_id: str, tokens: int) -> None:
        """Count an ended turn's tokens against the customer's day; never raises."""
        try:
            self._add(keys=[_tokens_key(customer_id, self._now() // DAY_SECONDS)], args=[tokens])
        except redis.RedisError as error:
            log.warning("tokens_not_counted", error=type(error).__name__)

    def _too_fast(self, asking: Asking) -> TooFast | None:
        key = _hashed(asking.customer_id)
        if self._window.hit(self._rate, key):
            return None
        free_at = self._window.get_window_stats(self._rate, key).reset_time
        wait = int(free_at - self._now()) + 1
        return TooFast(min(max(1, wait), self._rate.get_expiry()))

    def _conversation_full(self, asking: Asking) -> ConversationFull | None:
        if asking.conversation_turns >= self._limits.conversation_turns:
            return ConversationFull("turns")
        if asking.conversation_tokens >= self._limits.conversation_tokens:
            return ConversationFull("tokens")
        return None

    def _no_room(self) -> NoRoom | None:
        """Refuse when too many turns are open. Racing requests may pass together, by a few turns at most."""
        workers = len(self._workers())
        if not workers:
            return NoRoom("no worker", _jittered())
        most = self._limits.max_open_turns
        if most is None:
            most = OPEN_TURNS_PER_WORKER_SEAT * workers * self._seats
        return NoRoom("full", _jittered()) if self._usage.open_turns() >= most else None

    def _too_many_tokens(self, asking: Asking) -> TooManyTokens | None:
        now = self._now()
        key = _tokens_key(asking.customer_id, now // DAY_SECONDS)
        counted = cast("bytes | None", self._client.get(key))
        if counted is None:
            used = self._usage.tokens_today(asking.customer_id)
            self._client.set(key, used, ex=RECOUNT_SECONDS, nx=True)
        else:
            used = int(counted)
        if used < self._limits.customer_daily_tokens:
            return None
        return TooManyTokens(DAY_SECONDS - now % DAY_SECONDS)

    def _now(self) -> int:
        seconds, _ = self._client.time()
        return seconds


def _tokens_key(customer_id: str, day: int) -> str:
    return f"tokens:{day}:{_hashed(customer_id)}"


def _hashed(customer_id: str) -> str:
    """Return a key that no other customer id has, whatever characters are in it."""
    return hashlib.sha256(customer_id.encode("utf-8", "surrogatepass")).hexdigest()


def _jittered() -> int:
    return random.randint(*NO_ROOM_SECONDS)  # noqa: S311 - spreads callers, protects nothing
