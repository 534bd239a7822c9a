"""The figures, as the database and Redis know them. Every process tells the same, so nothing is added up."""

from typing import Any, cast

import redis
from sqlalchemy import Column, ColumnElement, Connection, Table, case, exists, func, select, true

from refund_agent.adapters.redis_live import LOST
from refund_agent.adapters.redis_presence import RedisPresence
from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_inspection import is_stuck
from refund_agent.adapters.sql_support_tables import approvals
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.figures import (
    DURATION_BOUNDS_SECONDS,
    LATELY_SECONDS,
    Durations,
    LiveFigures,
    StoredFigures,
    Trouble,
)
from refund_agent.ports import QUEUE, QueueUnavailable

PRESENT_SECONDS = 10.0


class SystemFigures:
    """Implements the port `Figures`."""

    def __init__(self, database: Database, client: redis.Redis, *, web: RedisPresence) -> None:
        self._database = database
        self._client = client
        self._web = web

    def stored(self) -> StoredFigures:
        """Ask the database; raise `StoreUnavailable`."""
        with self._database.transaction(read_only=True) as tx:
            return StoredFigures(
                turns_by_outcome=_counts(tx, turns.c.outcome, turns.c.state == "ended"),
                open_turns_by_state=_counts(tx, turns.c.state, turns.c.state != "ended"),
                durations=_durations(tx),
                refunds_by_state=_counts(tx, refunds.c.state, true()),
                trouble=_trouble(tx),
                approvals_by_state=_counts(tx, approvals.c.state, true()),
            )

    def live(self) -> LiveFigures:
        """Ask Redis; raise `QueueUnavailable`."""
        try:
            return LiveFigures(
                queue_depth=self._client.llen(QUEUE),
                waiting_by_process=self._web.alive(within_seconds=PRESENT_SECONDS),
                lost_events=int(cast("bytes | None", self._client.get(LOST)) or 0),
            )
        except redis.RedisError as error:
            raise QueueUnavailable(type(error).__name__) from error


def _counts(tx: Connection, column: Column[Any], which: ColumnElement[bool]) -> dict[str, int]:
    rows = tx.execute(select(column, func.count()).where(which).group_by(column))
    return {str(name): int(count) for name, count in rows}


def _durations(tx: Connection) -> Durations:
    took_ms = turns.c.ended_at_ms - turns.c.created_at_ms
    within = [
        func.coalesce(func.sum(case((took_ms <= bound * 1000, 1), else_=0)), 0)
        for bound in DURATION_BOUNDS_SECONDS
    ]
    asked = select(func.count(), func.coalesce(func.sum(took_ms), 0), *within).where(turns.c.state == "ended")
    count, total_ms, *up_to = cast("tuple[int, ...]", tx.execute(asked).one())
    return Durations(
        up_to={bound: int(n) for bound, n in zip(DURATION_BOUNDS_SECONDS, up_to, strict=True)},
        count=count,
        total_seconds=int(total_ms) / 1000,
    )


def _trouble(tx: Connection) -> Trouble:
    silent = (turns.c.state == "running") & (turns.c.lease_until_ms < now_ms())
    unmirrored = refunds.c.mirrored_state != refunds.c.state
    attempted = exists().where(refunds.c.turn_id == turns.c.id, refunds.c.state != "closed")
    lately = (turns.c.state == "ended") & (turns.c.ended_at_ms > now_ms() - round(LATELY_SECONDS * 1000))
    without_text = (turns.c.outcome != "replied") | (turns.c.reply == "")
    return Trouble(
        oldest_unknown_seconds=_oldest_seconds(tx, refunds.c.state == "unknown"),
        stuck_turns=_count(tx, turns, is_stuck()),
        expired_leases=_count(tx, turns, silent),
        unmirrored=_count(tx, refunds, unmirrored),
        oldest_unmirrored_seconds=_oldest_seconds(tx, unmirrored),
        breaches={
            "refund_without_its_flag": _count(tx, turns, attempted & ~turns.c.refund_attempted),
            "flag_without_its_refund": _count(tx, turns, turns.c.refund_attempted & ~attempted),
        },
        lately_ended=_count(tx, turns, lately),
        lately_unanswered=_count(tx, turns, lately & without_text),
    )


def _count(tx: Connection, table: Table, which: ColumnElement[bool]) -> int:
    return tx.execute(select(func.count()).select_from(table).where(which)).scalar_one()


def _oldest_seconds(tx: Connection, which: ColumnElement[bool]) -> float:
    age_ms = tx.execute(select(now_ms() - func.min(refunds.c.decided_at_ms)).where(which)).scalar_one()
    return (age_ms or 0) / 1000
