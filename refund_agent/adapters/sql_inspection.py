"""What an operator sees of turns and refunds in SQL; an unknown one is resolved once, sending nothing."""

from collections.abc import Sequence
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Select, or_, select, update

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_rows import RECORD_COLUMNS, refund_record
from refund_agent.adapters.sql_tables import refunds, resolutions, turns
from refund_agent.adapters.sql_turns import FOUND_COLUMNS, turn_record
from refund_agent.inspection import (
    AlreadyResolved,
    Inspected,
    NotUnknown,
    Resolution,
    Resolved,
    UnknownRefund,
    Verdict,
)

_TIMES = (
    turns.c.owner,
    now_ms() - turns.c.created_at_ms,
    turns.c.deadline_at_ms - now_ms(),
    turns.c.lease_until_ms - now_ms(),
)


class SqlInspection:
    """Implements the port `Inspection`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def recent(self, *, limit: int) -> list[Inspected]:
        """Return the newest turns, newest first."""
        return self._inspect(_asked().order_by(turns.c.created_at_ms.desc()).limit(limit))

    def stuck(self, *, limit: int) -> list[Inspected]:
        """Return turns that something should have moved on by now, oldest first."""
        return self._inspect(_asked().where(is_stuck()).order_by(turns.c.created_at_ms).limit(limit))

    def turn(self, turn_id: str) -> Inspected | None:
        """Return one turn, or None."""
        found = self._inspect(_asked().where(turns.c.id == turn_id))
        return found[0] if found else None

    def unknown(self, *, limit: int) -> list[UnknownRefund]:
        """Return refunds whose outcome is unknown, oldest first."""
        age_ms = now_ms() - refunds.c.decided_at_ms
        asked = (
            select(*RECORD_COLUMNS, age_ms, refunds.c.evidence, refunds.c.late_answer)
            .where(refunds.c.state == "unknown")
            .order_by(refunds.c.decided_at_ms)
            .limit(limit)
        )
        with self._database.transaction(read_only=True) as tx:
            rows = cast("Sequence[Sequence[Any]]", tx.execute(asked).all())
        return [
            UnknownRefund(refund_record(record), age / 1000, evidence, late_answer)
            for *record, age, evidence, late_answer in rows
        ]

    def resolve(self, turn_id: str, verdict: Verdict) -> Resolution:
        """Save a person's answer about an unknown refund, once. Sends nothing."""
        settled: dict[str, object] = (
            {"state": "paid", "refund_id": verdict.reference or f"resolved-by-{verdict.resolved_by}"}
            if verdict.money_moved
            else {"state": "not_sent"}
        )
        settle = (
            update(refunds)
            .where(refunds.c.turn_id == turn_id, refunds.c.state == "unknown")
            .values(**settled, settled_at_ms=now_ms())
            .returning(*RECORD_COLUMNS)
        )
        with self._database.transaction() as tx:
            row = tx.execute(settle).one_or_none()
            if row is None:
                return _why_not(tx, turn_id)
            tx.execute(
                resolutions.insert().values(
                    turn_id=turn_id,
                    money_moved=verdict.money_moved,
                    resolved_by=verdict.resolved_by,
                    reference=verdict.reference,
                    note=verdict.note,
                    resolved_at_ms=now_ms(),
                )
            )
        return Resolved(refund_record(row))

    def _inspect(self, asked: Select[*tuple[Any, ...]]) -> list[Inspected]:
        with self._database.transaction(read_only=True) as tx:
            rows = cast("Sequence[Sequence[Any]]", tx.execute(asked).all())
        return [_inspected(row) for row in rows]


def is_stuck() -> ColumnElement[bool]:
    """Match turns past their deadline, and turns whose worker went silent."""
    silent = (turns.c.state == "running") & (turns.c.lease_until_ms < now_ms())
    return (turns.c.state != "ended") & or_(turns.c.deadline_at_ms < now_ms(), silent)


def _asked() -> Select[*tuple[Any, ...]]:
    both = turns.outerjoin(refunds, refunds.c.turn_id == turns.c.id)
    return select(*_TIMES, *FOUND_COLUMNS, *RECORD_COLUMNS).select_from(both)


def _inspected(row: Sequence[Any]) -> Inspected:
    owner, age_ms, left_ms, lease_ms, *found = row
    return Inspected(
        turn=turn_record(found),
        owner=owner,
        age_seconds=age_ms / 1000,
        left_seconds=left_ms / 1000,
        lease_seconds=None if lease_ms is None else lease_ms / 1000,
    )


def _why_not(tx: Connection, turn_id: str) -> AlreadyResolved | NotUnknown:
    row = tx.execute(select(*RECORD_COLUMNS).where(refunds.c.turn_id == turn_id)).one_or_none()
    if row is None:
        return NotUnknown("no refund")
    first = tx.execute(select(resolutions).where(resolutions.c.turn_id == turn_id)).one_or_none()
    if first is None:
        return NotUnknown(refund_record(row).state)
    return AlreadyResolved(refund_record(row), first.resolved_by, first.note)
