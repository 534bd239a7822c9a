"""Figures over time in SQL: one statement a table, each bounded by the window and served by an index."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Select,
    bindparam,
    case,
    distinct,
    func,
    literal,
    select,
    text,
    type_coerce,
)

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_support_tables import REMARKABLE, approvals, entries, events
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.overview import Overview, PeriodFigures, Window

_SINCE = bindparam("since", type_=BigInteger)
_PART_MS = bindparam("part_ms", type_=BigInteger)
_ALL: Final = -1
"""The part that stands for the whole window, where a sum of parts is not the figure of the whole."""
_BY_A_MODEL = turns.c.agent != "approval"
Parts: TypeAlias = Mapping[int, dict[str, int]]


def _part(at_ms: Column[Any]) -> ColumnElement[int]:
    return type_coerce((at_ms - _SINCE) // _PART_MS, BigInteger).label("part")


def _counted(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.count(case((condition, 1)))


def _turns_with(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.count(distinct(case((condition, events.c.turn_id))))


def _says(decision: str) -> ColumnElement[bool]:
    """Match the body of a policy's event; in a text in it every quote is escaped, and does not match."""
    return (events.c.kind == "policy") & events.c.body.contains(f'"decision":"{decision}"', autoescape=True)


_PRICED = turns.c.cost_microdollars.is_not(None) & (turns.c.cost_microdollars + turns.c.tokens_used > 0)
"""A completion that nobody answered told no tokens and added no cost: that is no price of nothing."""

_TURNS = (
    select(
        _part(turns.c.created_at_ms),
        func.count().label("turns"),
        func.count(distinct(turns.c.conversation_id)).label("conversations"),
        _counted(turns.c.outcome == "replied").label("replied"),
        func.coalesce(func.sum(turns.c.tokens_used), 0).label("tokens"),
        func.coalesce(func.sum(turns.c.cost_microdollars), 0).label("cost_microdollars"),
        func.coalesce(func.sum(turns.c.completions_used), 0).label("completions"),
        func.coalesce(func.sum(case((_PRICED, turns.c.completions_used))), 0).label("priced_completions"),
    )
    .where(turns.c.created_at_ms >= _SINCE, _BY_A_MODEL)
    .group_by("part")
)
_CONVERSATIONS = select(
    literal(_ALL).label("part"), func.count(distinct(turns.c.conversation_id)).label("conversations")
).where(turns.c.created_at_ms >= _SINCE, _BY_A_MODEL)
_EVENTS = (
    select(
        _part(events.c.at_ms),
        _turns_with(_says("approved")).label("allowed"),
        _turns_with(_says("denied")).label("denied"),
        _turns_with(events.c.kind == "flag").label("flagged"),
        _turns_with(events.c.kind == "correction").label("corrected"),
    )
    .where(events.c.at_ms >= _SINCE, text(REMARKABLE))
    .group_by("part")
)
_REFUNDS = (
    select(
        _part(refunds.c.decided_at_ms),
        _counted(refunds.c.state == "paid").label("paid"),
        _counted(refunds.c.state == "unknown").label("unknown"),
    )
    .where(refunds.c.decided_at_ms >= _SINCE)
    .group_by("part")
)
_APPROVALS = (
    select(_part(approvals.c.requested_at_ms), func.count().label("approvals"))
    .where(approvals.c.requested_at_ms >= _SINCE)
    .group_by("part")
)
_HAND_OVERS = (
    select(_part(entries.c.at_ms), func.count(distinct(entries.c.conversation_id)).label("handed_over"))
    .where(entries.c.kind == "hand_off", entries.c.at_ms >= _SINCE)
    .group_by("part")
)


def _times(part: ColumnElement[int]) -> Select[*tuple[Any, ...]]:
    """Build the nearest-rank median and 95th percentile of each part: the one value of its rank."""
    took = (turns.c.ended_at_ms - turns.c.created_at_ms).label("took")
    ranked = (
        select(
            part.label("part"),
            took,
            func.row_number().over(partition_by=part, order_by=took).label("rank"),
            func.count().over(partition_by=part).label("count"),
        )
        .where(turns.c.created_at_ms >= _SINCE, turns.c.state == "ended", _BY_A_MODEL)
        .subquery("ranked")
    )
    return select(
        ranked.c.part,
        func.max(case((ranked.c.rank == (ranked.c.count + 1) // 2, ranked.c.took))).label("median_ms"),
        func.max(case((ranked.c.rank == (ranked.c.count * 19 + 19) // 20, ranked.c.took))).label(
            "slowest_twentieth_ms"
        ),
    ).group_by(ranked.c.part)


_STATEMENTS: Final = (
    *(_TURNS, _CONVERSATIONS, _EVENTS, _REFUNDS, _APPROVALS, _HAND_OVERS),
    *(_times(_part(turns.c.created_at_ms)), _times(literal(_ALL))),
)
_OF_THE_WHOLE: Final = frozenset({"conversations", "median_ms", "slowest_twentieth_ms"})


class SqlOverviews:
    """Implements the port `Overviews`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def over(self, window: Window) -> Overview:
        """Return the overview of a window that ends now."""
        with self._database.statement() as one:
            since = window.begins_at_ms(one.execute(select(now_ms())).scalar_one())
            found = _gather(one, {"since": since, "part_ms": window.part_ms})
        parts = [found.get(number, {}) for number in range(window.parts)]
        return Overview(
            begins_at_ms=since,
            part_ms=window.part_ms,
            total=PeriodFigures(**_summed(parts), **found.get(_ALL, {})),
            parts=tuple(PeriodFigures(**part) for part in parts),
        )


def _gather(one: Connection, given: dict[str, int]) -> Parts:
    """Ask everything, and put the answers together by part."""
    found: defaultdict[int, dict[str, int]] = defaultdict(dict)
    for statement in _STATEMENTS:
        for row in one.execute(statement, given).mappings():
            told = {str(name): value for name, value in row.items() if name != "part"}
            found[int(row["part"])].update({name: int(value) for name, value in told.items()})
    return found


def _summed(parts: list[dict[str, int]]) -> dict[str, int]:
    sums: defaultdict[str, int] = defaultdict(int)
    for part in parts:
        for name, value in part.items():
            if name not in _OF_THE_WHOLE:
                sums[name] += value
    return dict(sums)
