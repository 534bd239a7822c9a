"""What an operator sees of turns and refunds in SQL; an unknown one is resolved once, sending nothing."""

from collections.abc import Collection, Sequence
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Select, func, or_, select, true, update

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_entries import add_entry
from refund_agent.adapters.sql_rows import RECORD_COLUMNS, UNENDED, refund_record
from refund_agent.adapters.sql_support_tables import approvals, orders
from refund_agent.adapters.sql_tables import refunds, resolutions, turns
from refund_agent.adapters.sql_turns import FOUND_COLUMNS, turn_record
from refund_agent.conversations import Entry
from refund_agent.inspection import (
    IN_FLIGHT_SECONDS,
    SWEPT_SECONDS,
    AlreadyResolved,
    Inspected,
    NotUnknown,
    PersonsAnswer,
    ResolveAnswer,
    Resolved,
    TooEarly,
    UnknownRefund,
)
from refund_agent.outcomes import RefundRecord
from refund_agent.replies import resolution_line

IN_FLIGHT_MS = IN_FLIGHT_SECONDS * 1000
SWEPT_MS = round(SWEPT_SECONDS * 1000)

_TIMES = (
    turns.c.owner,
    now_ms() - turns.c.created_at_ms,
    turns.c.deadline_at_ms - now_ms(),
    turns.c.lease_until_ms - now_ms(),
    func.coalesce(refunds.c.late_answer, ""),
)

_REFUNDS = (
    refunds.outerjoin(turns, turns.c.id == refunds.c.turn_id)
    .outerjoin(approvals, approvals.c.id == refunds.c.turn_id)
    .outerjoin(resolutions, resolutions.c.turn_id == refunds.c.turn_id)
)
"""A refund with its turn; the turn of an approved one has the approval's id, and names who approved."""
_CONVERSATION = func.coalesce(approvals.c.conversation_id, turns.c.conversation_id)
_CIRCUMSTANCES = (
    now_ms() - refunds.c.decided_at_ms,
    refunds.c.decided_at_ms,
    refunds.c.evidence,
    refunds.c.late_answer,
    func.coalesce(approvals.c.customer_id, turns.c.user_id),
    _CONVERSATION,
    resolutions.c.resolved_by,
    resolutions.c.note,
    resolutions.c.resolved_at_ms,
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

    def unknown(self, *, limit: int, also: Collection[str] = ()) -> list[UnknownRefund]:
        """Return refunds whose outcome is unknown, oldest first.

        Of the turns in `also` their refunds are returned, too, if they were resolved meanwhile.
        """
        resolved = resolutions.c.turn_id.is_not(None)
        asked = (
            select(*RECORD_COLUMNS, *_CIRCUMSTANCES)
            .select_from(_REFUNDS)
            .where(or_(is_unknown(), resolved & refunds.c.turn_id.in_(also)) if also else is_unknown())
            .order_by(refunds.c.decided_at_ms)
            .limit(limit + len(also))
        )
        with self._database.transaction(read_only=True) as tx:
            rows = cast("Sequence[Sequence[Any]]", tx.execute(asked).all())
        return [_unknown(row) for row in rows]

    def resolve(self, turn_id: str, answer: PersonsAnswer) -> ResolveAnswer:
        """Save a person's answer about an unknown refund, once, and tell it in its conversation."""
        settled: dict[str, object] = (
            {"state": "paid", "refund_id": answer.reference or f"resolved-by-{answer.resolved_by}"}
            if answer.money_moved
            else {"state": "not_sent"}
        )
        known = true() if answer.money_moved else refunds.c.decided_at_ms + IN_FLIGHT_MS < now_ms()
        settle = (
            update(refunds)
            .where(refunds.c.turn_id == turn_id, refunds.c.state == "unknown", known)
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
                    money_moved=answer.money_moved,
                    resolved_by=answer.resolved_by,
                    reference=answer.reference,
                    note=answer.note,
                    resolved_at_ms=now_ms(),
                )
            )
            self._tell(tx, refund_record(row), resolved_by=answer.resolved_by)
        return Resolved(refund_record(row))

    def _tell(self, tx: Connection, record: RefundRecord, *, resolved_by: str) -> None:
        """Say the answer in the refund's conversation, in the commit that saves it."""
        where = (
            select(_CONVERSATION, orders.c.currency)
            .select_from(_REFUNDS.outerjoin(orders, orders.c.id == refunds.c.order_id))
            .where(refunds.c.turn_id == record.turn_id)
        )
        conversation_id, currency = tx.execute(where).one()
        if conversation_id:
            entry = Entry("refund", resolved_by, resolution_line(record, currency or ""))
            add_entry(self._database, tx, conversation_id, entry)

    def _inspect(self, asked: Select[*tuple[Any, ...]]) -> list[Inspected]:
        with self._database.transaction(read_only=True) as tx:
            rows = cast("Sequence[Sequence[Any]]", tx.execute(asked).all())
        return [_inspected(row) for row in rows]


def is_unknown() -> ColumnElement[bool]:
    """Match refunds in doubt: also a claim that nobody has settled in time, as no worker lives."""
    is_old = refunds.c.decided_at_ms + IN_FLIGHT_MS < now_ms()
    return refunds.c.state.in_(("claimed", "unknown")) & or_(refunds.c.state == "unknown", is_old)


def contradicts_late_answer() -> ColumnElement[bool]:
    """Match refunds about which a person said one thing, and an answer that came after it another."""
    looks_paid, said_paid = refunds.c.review, refunds.c.state == "paid"
    said_no = refunds.c.state.in_(("rejected", "not_sent"))
    return (refunds.c.late_answer != "") & or_(looks_paid & said_no, ~looks_paid & said_paid)


def is_stuck() -> ColumnElement[bool]:
    """Match turns that a sweeper should have ended by now, and turns whose worker went silent."""
    silent = (turns.c.state == "running") & (turns.c.lease_until_ms < now_ms())
    return UNENDED & or_(turns.c.deadline_at_ms + SWEPT_MS < now_ms(), silent)


def _asked() -> Select[*tuple[Any, ...]]:
    both = turns.outerjoin(refunds, refunds.c.turn_id == turns.c.id)
    return select(*_TIMES, *FOUND_COLUMNS, *RECORD_COLUMNS).select_from(both)


def _inspected(row: Sequence[Any]) -> Inspected:
    owner, age_ms, left_ms, lease_ms, late_answer, *found = row
    turn = turn_record(found)
    return Inspected(
        turn=turn,
        owner=owner,
        age_seconds=age_ms / 1000,
        left_seconds=left_ms / 1000,
        lease_seconds=lease_ms / 1000 if turn.state == "running" else None,
        late_answer=late_answer,
    )


def _why_not(tx: Connection, turn_id: str) -> AlreadyResolved | NotUnknown | TooEarly:
    age_ms = now_ms() - refunds.c.decided_at_ms
    row = tx.execute(select(*RECORD_COLUMNS, age_ms).where(refunds.c.turn_id == turn_id)).one_or_none()
    if row is None:
        return NotUnknown("no refund")
    record = refund_record(row[:-1])
    if record.state == "unknown":
        return TooEarly(max(0, IN_FLIGHT_MS - row[-1]) / 1000)
    first = tx.execute(select(resolutions).where(resolutions.c.turn_id == turn_id)).one_or_none()
    if first is None:
        return NotUnknown(record.state)
    return AlreadyResolved(record, first.resolved_by, first.note, first.resolved_at_ms)


def _unknown(row: Sequence[Any]) -> UnknownRefund:
    record = refund_record(row[: len(RECORD_COLUMNS)])
    age_ms, sent_at_ms, evidence, late_answer, customer_id, conversation_id, *answer = row[
        len(RECORD_COLUMNS) :
    ]
    return UnknownRefund(
        record=record,
        age_seconds=age_ms / 1000,
        sent_at_ms=sent_at_ms,
        evidence=evidence,
        late_answer=late_answer,
        customer_id=customer_id or "",
        conversation_id=conversation_id or "",
        answer=None if answer[0] is None else AlreadyResolved(record, *answer),
    )
