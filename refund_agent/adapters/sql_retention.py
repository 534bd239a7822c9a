"""Forgetting in SQL: short transactions, oldest first. The ledger is read here, never changed.

Before turns go they are counted in the kept totals, in a commit of its own: see `sql_totals`.
"""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    Table,
    delete,
    exists,
    func,
    or_,
    select,
    tuple_,
)

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_support_tables import approvals, conversations, entries, events
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.adapters.sql_totals import SqlTotals
from refund_agent.retention import Batch, Place, Tally

CONVERSATIONS_PER_STEP: Final = 20
"""With some 40 turns each and 20 events a turn: a step has to end well before the database's wall."""
TURNS_PER_STEP: Final = 200
DAY_MS: Final = 24 * 3600 * 1000

_OPEN_REFUND = refunds.c.state.in_(("claimed", "unknown"))
_PENDING = approvals.c.state == "pending"


def _refund_is_open(turn_id: ColumnElement[str]) -> ColumnElement[bool]:
    return exists().where(refunds.c.turn_id == turn_id, _OPEN_REFUND)


_LONE = or_(
    turns.c.conversation_id.is_(None),
    ~exists().where(conversations.c.id == turns.c.conversation_id),
)
_TURN_IS_CLOSED = (
    (turns.c.state == "ended")
    & ~_refund_is_open(turns.c.id)
    & ~exists().where(approvals.c.turn_id == turns.c.id, _PENDING)
)
_ITS_TURN = turns.c.conversation_id == conversations.c.id
_ITS_APPROVAL = approvals.c.conversation_id == conversations.c.id
_HAS_OPEN_APPROVAL = exists().where(_ITS_APPROVAL, _PENDING)
_HAS_APPROVED_WORK = exists().where(_ITS_APPROVAL, turns.c.id == approvals.c.id, turns.c.state != "ended")
_HAS_APPROVED_OPEN = exists().where(_ITS_APPROVAL, refunds.c.turn_id == approvals.c.id, _OPEN_REFUND)


class SqlRetention:
    """Implements the port `Retention`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._totals = SqlTotals(database)

    def conversations(self, *, older_than_days: int, after: Place | None, dry_run: bool) -> Batch:
        """Delete some conversations with their turns, events and entries, oldest first; or count them."""
        cutoff = self._cutoff_ms(older_than_days, dry_run=dry_run)
        keeps_it = exists().where(_ITS_TURN, or_(~_TURN_IS_CLOSED, turns.c.ended_at_ms >= cutoff))
        asked = _batch(
            conversations, conversations.c.updated_at_ms, after, limit=CONVERSATIONS_PER_STEP
        ).where(
            conversations.c.updated_at_ms < cutoff,
            ~keeps_it,
            ~_HAS_OPEN_APPROVAL,
            ~_HAS_APPROVED_WORK,
            ~_HAS_APPROVED_OPEN,
        )
        with self._database.transaction(read_only=dry_run) as tx:
            found = _find(tx, asked, conversations, dry_run=dry_run)
            ids = [row.id for row in found]
            its_turns = select(turns.c.id).where(turns.c.conversation_id.in_(ids))
            gone = [
                _rows(tx, column, which, dry_run=dry_run)
                for column, which in (
                    (events.c.turn_id, its_turns),
                    (turns.c.conversation_id, ids),
                    (entries.c.conversation_id, ids),
                    (conversations.c.id, ids),
                )
            ]
        event_count, turn_count, entry_count, count = gone
        return Batch(Tally(count, turn_count, event_count, entry_count), _end(found))

    def lone_turns(self, *, older_than_days: int, after: Place | None, dry_run: bool) -> Batch:
        """Delete some ended turns that belong to no conversation, with their events; or count them."""
        cutoff = self._cutoff_ms(older_than_days, dry_run=dry_run)
        asked = _batch(turns, turns.c.ended_at_ms, after, limit=TURNS_PER_STEP).where(
            turns.c.ended_at_ms < cutoff, _LONE, _TURN_IS_CLOSED
        )
        with self._database.transaction(read_only=dry_run) as tx:
            found = _find(tx, asked, turns, dry_run=dry_run)
            ids = [row.id for row in found]
            event_count = _rows(tx, events.c.turn_id, ids, dry_run=dry_run)
            turn_count = _rows(tx, turns.c.id, ids, dry_run=dry_run)
        return Batch(Tally(turns=turn_count, events=event_count), _end(found))

    def _cutoff_ms(self, older_than_days: int, *, dry_run: bool) -> int:
        """Return the moment before which turns may go; all of them are in the totals by then."""
        with self._database.statement() as one:
            cutoff = one.execute(select(now_ms() - older_than_days * DAY_MS)).scalar_one()
        if not dry_run:
            self._totals.keep_all(before_ms=cutoff)
        return cutoff


def _batch(table: Table, at_ms: Column[Any], after: Place | None, *, limit: int) -> Select[*tuple[Any, ...]]:
    asked = select(table.c.id, at_ms.label("at_ms")).order_by(at_ms, table.c.id).limit(limit)
    return asked if after is None else asked.where(tuple_(at_ms, table.c.id) > (after.at_ms, after.id))


def _find(tx: Connection, asked: Select[*tuple[Any, ...]], table: Table, *, dry_run: bool) -> Sequence[Any]:
    """Return the batch; locked when it is to be deleted, so that nobody writes in it meanwhile."""
    if not dry_run:
        asked = asked.with_for_update(of=table, skip_locked=True)  # SQLite's one writer is lock enough
    return tx.execute(asked).all()


def _rows(tx: Connection, column: Column[Any], which: Any, *, dry_run: bool) -> int:  # noqa: ANN401 - ids, or a SELECT of them
    """Delete the rows whose column is one of these, or count them; return how many."""
    these = column.in_(which)
    if dry_run:
        return int(tx.execute(select(func.count()).select_from(column.table).where(these)).scalar_one())
    return tx.execute(delete(column.table).where(these)).rowcount


def _end(found: Sequence[Any]) -> Place | None:
    return Place(found[-1].at_ms, found[-1].id) if found else None
