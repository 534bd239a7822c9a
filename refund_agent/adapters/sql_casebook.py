"""What staff look through, in SQL. A page is a fixed number of statements over a limited number of rows."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import Connection, Select, func, select

from refund_agent.adapters.sql_case_search import (
    SCAN_LIMIT,
    VERDICTS,
    looks_into_turns,
    matches,
    newest,
)
from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_inspection import is_stuck
from refund_agent.adapters.sql_rows import RECORD_COLUMNS, refund_record
from refund_agent.adapters.sql_support_tables import approvals, events, orders
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.casebook import CaseKind, CasePage, CaseSummary, Mark, QueueName, Sought
from refund_agent.turn import UserMessage, decode_messages

MAX_EVENTS: Final = 2000
"""How many verdicts and flags of a page's cases are read."""
SAID_CHARACTERS: Final = 200

_WAITING = select(
    select(func.count()).where(approvals.c.state == "pending").scalar_subquery(),
    select(func.count()).where(refunds.c.state == "unknown").scalar_subquery(),
    select(func.count()).select_from(turns).where(is_stuck()).scalar_subquery(),
)


class SqlCasebook:
    """Implements the port `Casebook`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, kind: CaseKind, sought: Sought, *, before: Mark | None, limit: int) -> CasePage:
        """Return a page of cases, newest first."""
        with self._database.statement() as one:
            found, searched_to = _search(one, kind, sought, before=before, limit=limit)
            cases = _describe(one, kind, found[:limit])
        if len(found) > limit:
            return CasePage(cases, cases[-1].mark)
        return CasePage(cases, searched_to, None if searched_to is None else searched_to.at_ms)

    def waiting(self) -> Mapping[QueueName, int]:
        """Count what waits for a person, queue by queue."""
        with self._database.statement() as one:
            pending, unknown, stuck = one.execute(_WAITING).one()
        return {"approvals": pending, "unknown": unknown, "stuck": stuck}

    def currencies(self, order_ids: Collection[str]) -> Mapping[str, str]:
        """Return the currency of each of the orders that the database has."""
        asked = select(orders.c.id, orders.c.currency).where(orders.c.id.in_(order_ids))
        with self._database.statement() as one:
            return {str(order_id): str(currency) for order_id, currency in one.execute(asked)}


def _search(
    one: Connection, kind: CaseKind, sought: Sought, *, before: Mark | None, limit: int
) -> tuple[list[CaseSummary], Mark | None]:
    """Return what was found, one more than the limit if there is, and where the search stopped, if it did."""
    candidates = newest(kind, sought, before=before)
    if not looks_into_turns(sought):
        return [CaseSummary(kind, *row) for row in one.execute(candidates.limit(limit + 1))], None
    scanned = candidates.limit(SCAN_LIMIT).cte("found")
    asked = select(scanned).where(*matches(kind, scanned, sought))
    rows = one.execute(asked.order_by(scanned.c.at_ms.desc(), scanned.c.id.desc()).limit(limit + 1)).all()
    last = one.execute(candidates.offset(SCAN_LIMIT - 1).limit(1)).one_or_none()
    return [CaseSummary(kind, *row) for row in rows], None if last is None else Mark(last.at_ms, last.id)


def _describe(one: Connection, kind: CaseKind, cases: Sequence[CaseSummary]) -> tuple[CaseSummary, ...]:
    """Return the cases with what their turns, refunds, events and approvals say of them."""
    ids = [case.id for case in cases]
    last = {row.case_id: row for row in one.execute(_newest_turns(kind, ids))}
    refunded = _grouped((row.case_id, refund_record(row[1:])) for row in one.execute(_refunds(kind, ids)))
    told = _grouped((row.case_id, (row.kind, row.body)) for row in one.execute(_told(kind, ids)))
    waiting = set(one.execute(_waiting(ids)).scalars())
    return tuple(
        _complete(
            replace(case, refunds=tuple(refunded.get(case.id, ())), waits_for_approval=case.id in waiting),
            last.get(case.id),
            told.get(case.id, ()),
        )
        for case in cases
    )


def _complete(case: CaseSummary, last: Any, told: Sequence[tuple[str, str]]) -> CaseSummary:  # noqa: ANN401 - a row of `_newest_turns`
    rules = {str(json.loads(body).get("rule") or ""): None for name, body in told if name != "flag"}
    case = replace(
        case,
        rules=tuple(rule for rule in rules if rule),
        flags=sum(name == "flag" for name, _ in told),
    )
    if last is None:
        return case
    first = decode_messages(last.transcript)[0] if last.transcript != "[]" else None
    said = first.content if isinstance(first, UserMessage) else ""
    short = said if len(said) <= SAID_CHARACTERS else said[: SAID_CHARACTERS - 1] + "…"
    return replace(case, turns=last.turn_count, outcome=last.outcome or "unfinished", said=short)


def _newest_turns(kind: CaseKind, ids: list[str]) -> Select[*tuple[Any, ...]]:
    """The newest turn of each case, and how many there are."""
    case_id = turns.c.id if kind == "turn" else turns.c.conversation_id
    place = func.row_number().over(partition_by=case_id, order_by=(turns.c.created_at_ms.desc(), turns.c.id))
    count = func.count().over(partition_by=case_id)
    ranked = (
        select(turns.c.id, place.label("place"), count.label("turn_count")).where(case_id.in_(ids)).subquery()
    )
    return (
        select(case_id.label("case_id"), turns.c.outcome, turns.c.transcript, ranked.c.turn_count)
        .join_from(ranked, turns, turns.c.id == ranked.c.id)
        .where(ranked.c.place == 1)
    )


def _refunds(kind: CaseKind, ids: list[str]) -> Select[*tuple[Any, ...]]:
    own = _turns_of(kind, ids).subquery()
    return (
        select(own.c.case_id, *RECORD_COLUMNS)
        .join_from(own, refunds, refunds.c.turn_id == own.c.turn_id)
        .where(refunds.c.state != "closed")
        .order_by(refunds.c.decided_at_ms)
    )


def _told(kind: CaseKind, ids: list[str]) -> Select[*tuple[Any, ...]]:
    own = _turns_of(kind, ids).subquery()
    names_one = events.c.body.notlike('%"rules":%')
    return (
        select(own.c.case_id, events.c.kind, events.c.body)
        .join_from(own, events, events.c.turn_id == own.c.turn_id)
        .where(events.c.kind.in_((*VERDICTS, "flag")), names_one)
        .order_by(events.c.at_ms.desc())
        .limit(MAX_EVENTS)
    )


def _waiting(ids: list[str]) -> Select[*tuple[Any, ...]]:
    return select(approvals.c.conversation_id).where(
        approvals.c.conversation_id.in_(ids), approvals.c.state == "pending"
    )


def _turns_of(kind: CaseKind, ids: list[str]) -> Any:  # noqa: ANN401 - a SELECT, or a union of two
    """Each turn with its case; an approved refund's turn belongs to the approval's conversation."""
    case_id = turns.c.id if kind == "turn" else turns.c.conversation_id
    own = select(turns.c.id.label("turn_id"), case_id.label("case_id")).where(case_id.in_(ids))
    approved = select(approvals.c.id, approvals.c.conversation_id).where(approvals.c.conversation_id.in_(ids))
    return own.union_all(approved)


def _grouped(pairs: Any) -> dict[str, list[Any]]:  # noqa: ANN401 - whatever is grouped
    found: dict[str, list[Any]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found
