"""The ledger in SQL: the primary key of `refunds` is the gate."""

import json
from dataclasses import asdict

from sqlalchemy import Connection, update

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_rows import (
    FIND_REFUND,
    OWN_EPOCH,
    OWN_TURN,
    OWNED,
    RECORD_COLUMNS,
    answer_columns,
    owned_progress,
    refund_record,
)
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
from refund_agent.turn import Turn

_MARK_ATTEMPTED = update(turns).where(OWNED).values(refund_attempted=True)
_OWN_ROW = (refunds.c.turn_id == OWN_TURN) & (refunds.c.epoch == OWN_EPOCH)
_SETTLE = (
    update(refunds)
    .where(_OWN_ROW, refunds.c.state == "claimed")
    .values(settled_at_ms=now_ms())
    .returning(*RECORD_COLUMNS)
)
_KEEP_LATE_ANSWER = update(refunds).where(_OWN_ROW, refunds.c.state == "unknown").values(review=True)


class _Conflict(Exception):
    """Somebody's row was there first; raised inside the transaction so that it leaves nothing."""


class SqlLedger:
    """Implements the port `Ledger`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        new = {**NEW_ROW, "decided_at_ms": now_ms()}
        self._insert = database.insert_or_ignore(refunds).values(new).returning(refunds.c.turn_id)

    def claim(self, turn: Turn, *, call: CallPosition, order_id: str, amount_cents: int) -> ClaimAnswer:
        """Insert the turn's one row and mark the turn, in one commit, before any socket opens.

        The first writer wins: a conflict on the turn's id or on the order's open refund means "no", and
        then nothing of this transaction stays.
        """
        record = RefundRecord(turn.id, "claimed", order_id, amount_cents, str(call))
        try:
            with self._database.transaction() as tx:
                if tx.execute(_MARK_ATTEMPTED, owned_progress(turn)).rowcount != 1:
                    return Superseded()
                self._insert_first(tx, record, epoch=turn.epoch)
        except _Conflict:
            decided = self.find(turn.id)
            return OrderBusy(order_id) if decided is None else AlreadyDecided(decided)
        return Claimed(record)

    def settle(self, claimed: RefundRecord, *, epoch: int, answer: PaymentAnswer) -> RefundRecord:
        """Write what came back over this owner's claim; return the row as it now stands."""
        mine: dict[str, object] = {"own_turn": claimed.turn_id, "own_epoch": epoch}
        with self._database.statement() as one:
            row = one.execute(_SETTLE, {**mine, **answer_columns(answer)}).one_or_none()
        if row is not None:
            return refund_record(row)
        with self._database.transaction() as tx:
            self._keep_late_answer(tx, mine, answer)
            return refund_record(tx.execute(FIND_REFUND, mine).one())

    def find(self, turn_id: str) -> RefundRecord | None:
        """Return the turn's row, or None."""
        with self._database.statement() as one:
            row = one.execute(FIND_REFUND, {"own_turn": turn_id}).one_or_none()
        return None if row is None else refund_record(row)

    def _insert_first(self, tx: Connection, record: RefundRecord, *, epoch: int) -> None:
        if tx.execute(self._insert, {**asdict(record), "epoch": epoch}).one_or_none() is None:
            raise _Conflict

    def _keep_late_answer(self, tx: Connection, mine: dict[str, object], answer: PaymentAnswer) -> None:
        """An answer that came after the sweeper gave the claim up is evidence for a person, not a verdict."""
        if isinstance(answer, Unknown):
            return
        evidence = json.dumps({"answer": type(answer).__name__, **asdict(answer)})
        tx.execute(_KEEP_LATE_ANSWER, {**mine, "late_answer": evidence})
