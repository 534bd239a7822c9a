"""The figures, as the database and Redis know them. Every process tells the same, so nothing is added up."""

from typing import Any, cast

import redis
from sqlalchemy import case, func, select

from refund_agent.adapters.redis_presence import RedisPresence
from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.figures import DURATION_BOUNDS_SECONDS, Durations, LiveFigures, StoredFigures
from refund_agent.ports import QueueUnavailable

PRESENT_SECONDS = 10.0


class SystemFigures:
    """Implements the port `Figures`."""

    def __init__(
        self, database: Database, client: redis.Redis, *, web: RedisPresence, queue_name: str
    ) -> None:
        self._database = database
        self._client = client
        self._web = web
        self._queue_name = queue_name

    def stored(self) -> StoredFigures:
        """Ask the database; raise `StoreUnavailable`."""
        took_ms = turns.c.ended_at_ms - turns.c.created_at_ms
        within = [
            func.coalesce(func.sum(case((took_ms <= bound * 1000, 1), else_=0)), 0)
            for bound in DURATION_BOUNDS_SECONDS
        ]
        ended = turns.c.state == "ended"
        durations = select(func.count(), func.coalesce(func.sum(took_ms), 0), *within).where(ended)
        outcomes = select(turns.c.outcome, func.count()).where(ended).group_by(turns.c.outcome)
        states = select(refunds.c.state, func.count()).group_by(refunds.c.state)
        oldest = select(now_ms() - func.min(refunds.c.decided_at_ms)).where(refunds.c.state == "unknown")
        with self._database.transaction(read_only=True) as tx:
            count, total_ms, *up_to = cast("tuple[int, ...]", tx.execute(durations).one())
            return StoredFigures(
                turns_by_outcome=_pairs(tx.execute(outcomes).all()),
                durations=Durations(
                    up_to={b: int(n) for b, n in zip(DURATION_BOUNDS_SECONDS, up_to, strict=True)},
                    count=count,
                    total_seconds=int(total_ms) / 1000,
                ),
                refunds_by_state=_pairs(tx.execute(states).all()),
                oldest_unknown_seconds=(tx.execute(oldest).scalar_one() or 0) / 1000,
            )

    def live(self) -> LiveFigures:
        """Ask Redis; raise `QueueUnavailable`."""
        try:
            return LiveFigures(
                queue_depth=self._client.llen(self._queue_name),
                waiting_by_process=self._web.alive(within_seconds=PRESENT_SECONDS),
            )
        except redis.RedisError as error:
            raise QueueUnavailable(type(error).__name__) from error


def _pairs(rows: Any) -> dict[str, int]:  # noqa: ANN401 - rows of a name and a count
    return {str(name): int(count) for name, count in rows}
