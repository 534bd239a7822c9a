"""The ledger in SQL: the primary key of `refunds` is the gate."""

import json
from dataclasses import asdict

from sqlalchemy import Connection, select, update

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_rows import RECORD_COLUMNS, answer_columns, refund_record
from refund_agent.adapters.sql_tables import NEW_ROW, refunds, turns
from refund_agent.outcomes import (
    AlreadyDecided,
    CallPosition,
    ClaimAnswer,
    Claimed,
    OrderBusy,
    PaymentAnswer,
    RefundRecord,
    Superseded,
    Unknown,
)
from refund_agent.turn import Turn, encode_messages


class _Conflict(Exception):
    """Somebody's row was there first; raised inside the transaction so that it leaves nothing."""


class SqlLedger:
    """Implements the port `Ledger`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, turn: Turn, *, call: CallPosition, order_id: str, amount_cents: int) -> ClaimAnswer:
        """Insert the turn's one row and mark the turn, in one commit, before any socket opens.

        The first writer wins: a conflict on the turn's id or on the order's open refund means "no", and
        then nothing of this transaction stays.
        """
        record = RefundRecord(turn.id, "claimed", order_id, amount_cents, str(call))
        try:
            with self._database.transaction() as tx:
                if not self._mark_attempted(tx, turn):
                    return Superseded()
                self._insert(tx, record, epoch=turn.epoch)
        except _Conflict:
            decided = self.find(turn.id)
            return OrderBusy(order_id) if decided is None else AlreadyDecided(decided)
        return Claimed(record)

    def settle(self, claimed: RefundRecord, *, epoch: int, answer: PaymentAnswer) -> RefundRecord:
        """Write what came back over this owner's claim; return the row as it now stands."""
        mine = (refunds.c.turn_id == claimed.turn_id) & (refunds.c.epoch == epoch)
        settle = (
            update(refunds)
            .where(mine, refunds.c.state == "claimed")
            .values(**answer_columns(answer), settled_at_ms=now_ms())
            .returning(*RECORD_COLUMNS)
        )
        with self._database.transaction() as tx:
            row = tx.execute(settle).one_or_none()
            if row is None:
                self._keep_late_answer(tx, claimed.turn_id, epoch, answer)
                row = tx.execute(select(*RECORD_COLUMNS).where(refunds.c.turn_id == claimed.turn_id)).one()
            return refund_record(row)

    def find(self, turn_id: str) -> RefundRecord | None:
        """Return the turn's row, or None."""
        with self._database.transaction(read_only=True) as tx:
            row = tx.execute(select(*RECORD_COLUMNS).where(refunds.c.turn_id == turn_id)).one_or_none()
        return None if row is None else refund_record(row)

    def _mark_attempted(self, tx: Connection, turn: Turn) -> bool:
        """Checkpoint the turn with its flag set; False when this epoch no longer owns it."""
        owned = (turns.c.id == turn.id) & (turns.c.epoch == turn.epoch) & (turns.c.state == "running")
        values = {
            "transcript": encode_messages(turn.messages),
            "completions_used": turn.completions_used,
            "attempts": turn.attempts,
            "refund_attempted": True,
        }
        return tx.execute(update(turns).where(owned).values(values)).rowcount == 1

    def _insert(self, tx: Connection, record: RefundRecord, *, epoch: int) -> None:
        row = {**NEW_ROW, **asdict(record), "epoch": epoch, "decided_at_ms": now_ms()}
        insert = self._database.insert_or_ignore(refunds).values(row).returning(refunds.c.turn_id)
        if tx.execute(insert).one_or_none() is None:
            raise _Conflict

    def _keep_late_answer(self, tx: Connection, turn_id: str, epoch: int, answer: PaymentAnswer) -> None:
        """An answer that came after the sweeper gave the claim up is evidence for a person, not a verdict."""
        if isinstance(answer, Unknown):
            return
        evidence = json.dumps({"answer": type(answer).__name__, **asdict(answer)})
        late = (refunds.c.turn_id == turn_id) & (refunds.c.epoch == epoch) & (refunds.c.state == "unknown")
        tx.execute(update(refunds).where(late).values(late_answer=evidence, review=True))
