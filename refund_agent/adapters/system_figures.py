"""The figures, as the database and Redis know them. Every process tells the same, so nothing is added up."""

from typing import Any, cast

import redis
from sqlalchemy import Column, ColumnElement, Connection, case, func, select, true

from refund_agent.adapters.redis_live import LOST
from refund_agent.adapters.redis_presence import RedisPresence
from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_inspection import contradicts_late_answer, is_stuck, is_unknown
from refund_agent.adapters.sql_rows import UNENDED
from refund_agent.adapters.sql_support_tables import approvals
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.adapters.sql_totals import durations, named, read_kept, read_totals
from refund_agent.figures import (
    COMPARED_SECONDS,
    LATELY_SECONDS,
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
        """Ask the database; raise `StoreUnavailable`. Reads what is open or recent, never a whole table."""
        with self._database.transaction(read_only=True) as tx:
            kept = read_kept(tx)
            totals = read_totals(tx, kept)
            open_refunds = _counts(tx, refunds.c.state, refunds.c.state.in_(("claimed", "unknown")))
            return StoredFigures(
                turns_by_outcome=named(totals, "outcome"),
                open_turns_by_state=_counts(tx, turns.c.state, UNENDED),
                durations=durations(totals),
                refunds_by_state=named(totals, "refund") | open_refunds,
                trouble=_trouble(tx, now=kept.now_ms),
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


def _trouble(tx: Connection, *, now: int) -> Trouble:
    """Take the time as a number: an index is not asked about a time that is computed row by row."""
    lately = (turns.c.state == "ended") & (turns.c.ended_at_ms > now - round(LATELY_SECONDS * 1000))
    without_text = (turns.c.outcome != "replied") | (turns.c.reply == "")
    last_changed = func.coalesce(refunds.c.settled_at_ms, refunds.c.decided_at_ms)
    is_unmirrored = refunds.c.mirrored_state != refunds.c.state
    unmirrored, oldest_unmirrored = _number_and_age(tx, is_unmirrored, since=last_changed, now=now)
    _, oldest_unknown = _number_and_age(tx, is_unknown(), since=refunds.c.decided_at_ms, now=now)
    return Trouble(
        oldest_unknown_seconds=oldest_unknown,
        stuck_turns=_count(tx, is_stuck()),
        expired_leases=_count(tx, (turns.c.state == "running") & (turns.c.lease_until_ms < now)),
        unmirrored=unmirrored,
        oldest_unmirrored_seconds=oldest_unmirrored,
        breaches=_breaches(tx, since_ms=now - round(COMPARED_SECONDS * 1000)),
        lately_ended=_count(tx, lately),
        lately_unanswered=_count(tx, lately & without_text),
    )


def _breaches(tx: Connection, *, since_ms: int) -> dict[str, int]:
    """Hold the turns of the last hour against the ledger, and a person's answers against late receipts."""
    both = turns.outerjoin(refunds, (refunds.c.turn_id == turns.c.id) & (refunds.c.state != "closed"))
    has_refund, has_flag = refunds.c.turn_id.is_not(None), turns.c.refund_attempted
    asked = (
        select(_how_many(has_refund & ~has_flag), _how_many(has_flag & ~has_refund))
        .select_from(both)
        .where(turns.c.created_at_ms > since_ms)
    )
    without_flag, without_refund = tx.execute(asked).one()
    contradicted = select(func.count()).where(contradicts_late_answer(), refunds.c.settled_at_ms > since_ms)
    return {
        "refund_without_its_flag": without_flag or 0,
        "flag_without_its_refund": without_refund or 0,
        "late_answer_contradicts": tx.execute(contradicted).scalar_one(),
    }


def _how_many(which: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((which, 1), else_=0))


def _count(tx: Connection, which: ColumnElement[bool]) -> int:
    return tx.execute(select(func.count()).select_from(turns).where(which)).scalar_one()


def _number_and_age(
    tx: Connection, which: ColumnElement[bool], *, since: ColumnElement[Any], now: int
) -> tuple[int, float]:
    """Return how many refunds these are, and the age of the oldest in seconds, counted from `since`."""
    count, oldest_ms = tx.execute(select(func.count(), func.min(since)).where(which)).one()
    return count, 0.0 if oldest_ms is None else (now - oldest_ms) / 1000
