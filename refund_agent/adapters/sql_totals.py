"""Totals of turns that ended and refunds that are final, also of turns that have been forgotten since.

One row keeps the totals up to a moment; what came after is counted when it is asked for. So a total never
falls, and asking costs the same after a million turns. Forgetting keeps first and deletes then.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import ColumnElement, Connection, Table, case, func, select, update

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_tables import kept_totals, refunds, turns
from refund_agent.figures import DURATION_BOUNDS_SECONDS, Durations

LAG_MS: Final = 10 * 60_000
"""What is younger is not kept yet: a row comes into sight up to a transaction's length after its own time."""
KEEP_EVERY_MS: Final = 5 * 60_000
ROWS_PER_STEP: Final = 20_000
MAX_STEPS: Final = 100_000

_ONLY_ROW: Final = 1
_FINAL = refunds.c.state.in_(("paid", "rejected", "not_sent"))
_MS = turns.c.ended_at_ms - turns.c.created_at_ms
_TOOK_MS = case((_MS > 0, _MS), else_=0)
"""Never less than nothing, also when the database's clock was set back meanwhile: a sum must not fall."""


class Kept(NamedTuple):
    """The totals of everything before `until_ms`; and what the time is."""

    now_ms: int
    until_ms: int
    totals: Counter[str]


class SqlTotals:
    """Keeps the totals. Any process may; of two at once, one does."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self) -> bool:
        """Count what has become old enough, one bounded step; return whether it moved."""
        return self._step(before_ms=None)

    def keep_all(self, *, before_ms: int) -> None:
        """Count everything before a moment that is at least `LAG_MS` ago, step by step."""
        for _ in range(MAX_STEPS):
            if not self._step(before_ms=before_ms):
                return

    def _step(self, *, before_ms: int | None) -> bool:
        with self._database.transaction(read_only=True) as tx:
            kept = read_kept(tx)
            least_ms = 1 if before_ms is not None else KEEP_EVERY_MS
            end_ms = kept.now_ms - LAG_MS if before_ms is None else before_ms
            if end_ms - kept.until_ms < least_ms:
                return False
            end_ms = _end_of_step(tx, kept.until_ms, end_ms)
            totals = kept.totals.copy()
            totals.update(count_ended(tx, from_ms=kept.until_ms, before_ms=end_ms))
        first = self._database.insert_or_ignore(kept_totals).values(id=_ONLY_ROW, until_ms=0, totals="{}")
        move = (
            update(kept_totals)
            .where(kept_totals.c.id == _ONLY_ROW, kept_totals.c.until_ms == kept.until_ms)
            .values(until_ms=end_ms, totals=json.dumps(totals, sort_keys=True))
        )
        with self._database.transaction() as tx:
            tx.execute(first)
            tx.execute(move)  # matches nothing if somebody else was faster: then theirs is as good
        return True


def read_kept(tx: Connection) -> Kept:
    """Return what is kept, and the database's time."""
    here = select(now_ms().label("now_ms")).subquery()
    asked = select(here.c.now_ms, kept_totals.c.until_ms, kept_totals.c.totals).select_from(
        here.outerjoin(kept_totals, kept_totals.c.id == _ONLY_ROW)
    )
    now, until_ms, totals = tx.execute(asked).one()
    return Kept(now, until_ms or 0, Counter(json.loads(totals or "{}")))


def read_totals(tx: Connection, kept: Kept) -> Counter[str]:
    """Return the totals as of now."""
    totals = kept.totals.copy()
    totals.update(count_ended(tx, from_ms=kept.until_ms, before_ms=None))
    return totals


def count_ended(tx: Connection, *, from_ms: int, before_ms: int | None) -> Counter[str]:
    """Count the turns that ended, and the refunds that became final, in a span of time."""

    def within(at_ms: ColumnElement[Any]) -> ColumnElement[bool]:
        return at_ms >= from_ms if before_ms is None else (at_ms >= from_ms) & (at_ms < before_ms)

    totals: Counter[str] = Counter()
    fast = [
        func.sum(case((_TOOK_MS.between(0, bound * 1000), 1), else_=0)) for bound in DURATION_BOUNDS_SECONDS
    ]
    ended = select(turns.c.outcome, func.count(), func.sum(_TOOK_MS), *fast)
    of_turns = ended.where(turns.c.state == "ended", within(turns.c.ended_at_ms)).group_by(turns.c.outcome)
    for outcome, count, took_ms, *up_to in cast("Sequence[Sequence[Any]]", tx.execute(of_turns).all()):
        totals[f"outcome {outcome}"] += int(count)
        totals["took_ms"] += int(took_ms)
        totals.update({_up_to(b): int(n) for b, n in zip(DURATION_BOUNDS_SECONDS, up_to, strict=True)})
    for is_final, at_ms in (
        (_FINAL, refunds.c.settled_at_ms),
        (refunds.c.state == "closed", refunds.c.decided_at_ms),
    ):
        of_refunds = select(refunds.c.state, func.count()).where(is_final, within(at_ms))
        for state, count in tx.execute(of_refunds.group_by(refunds.c.state)):
            totals[f"refund {state}"] += int(count)
    return totals


def named(totals: Counter[str], what: str) -> dict[str, int]:
    """Return the totals of outcomes (`outcome`) or refunds (`refund`) by their name."""
    return {key.removeprefix(f"{what} "): n for key, n in totals.items() if key.startswith(f"{what} ")}


def durations(totals: Counter[str]) -> Durations:
    """Return how long ended turns took."""
    return Durations(
        up_to={bound: totals[_up_to(bound)] for bound in DURATION_BOUNDS_SECONDS},
        count=sum(named(totals, "outcome").values()),
        total_seconds=totals["took_ms"] / 1000,
    )


def _up_to(bound_seconds: float) -> str:
    return f"up_to_ms {round(bound_seconds * 1000)}"


def _end_of_step(tx: Connection, from_ms: int, end_ms: int) -> int:
    """Return `end_ms`, or where a step has enough rows."""
    for table, at_ms in ((turns, turns.c.ended_at_ms), (refunds, refunds.c.settled_at_ms)):
        nth = _nth(table, at_ms, from_ms, end_ms)
        enough = tx.execute(nth).scalar_one_or_none()
        end_ms = end_ms if enough is None else max(enough, from_ms + 1)
    return end_ms


def _nth(table: Table, at_ms: ColumnElement[Any], from_ms: int, end_ms: int) -> Any:  # noqa: ANN401 - SQLAlchemy's Select
    within = (at_ms >= from_ms) & (at_ms < end_ms)
    return select(at_ms).select_from(table).where(within).order_by(at_ms).offset(ROWS_PER_STEP).limit(1)
