"""The ledger in SQL: the primary key of `refunds` is the gate."""

import json
from dataclasses import asdict

from sqlalchemy import Connection, update

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_order_rows import (
    LOCK_ORDER,
    REFUNDS_OF_OTHERS,
    TODAY,
    read_day,
    read_order,
    read_refunds,
)
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
    Paid,
    PaymentAnswer,
    RefundRecord,
    RefusedByPolicy,
    Superseded,
    Unknown,
)
from refund_agent.policy import Approved, LockedFacts, PolicyCheck, Refusal
from refund_agent.turn import Turn

_MARK_ATTEMPTED = update(turns).where(OWNED).values(refund_attempted=True)
_OWN_ROW = (refunds.c.turn_id == OWN_TURN) & (refunds.c.epoch == OWN_EPOCH)
_SETTLE = (
    update(refunds)
    .where(_OWN_ROW, refunds.c.state == "claimed")
    .values(settled_at_ms=now_ms())
    .returning(*RECORD_COLUMNS)
)
_KEEP_LATE_ANSWER = update(refunds).where(_OWN_ROW, refunds.c.state != "claimed")


class _Conflict(Exception):
    """Somebody's row was there first; raised inside the transaction so that it leaves nothing."""


class _Refused(Exception):
    """The policy said no; raised inside the transaction so that it leaves nothing."""

    def __init__(self, decision: Refusal) -> None:
        super().__init__(decision.rule)
        self.decision = decision


class SqlLedger:
    """Implements the port `Ledger`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        new = {**NEW_ROW, "decided_at_ms": now_ms()}
        self._insert = database.insert_or_ignore(refunds).values(new).returning(refunds.c.turn_id)

    def claim(
        self,
        turn: Turn,
        *,
        call: CallPosition,
        order_id: str,
        amount_cents: int,
        check: PolicyCheck | None = None,
    ) -> ClaimAnswer:
        """Insert the turn's one row and mark the turn, in one commit, before any socket opens.

        The first writer wins: a conflict on the turn's id or on the order's open refund means "no", and
        then nothing of this transaction stays.
        """
        record = RefundRecord(turn.id, "claimed", order_id, amount_cents, str(call))
        try:
            with self._database.transaction() as tx:
                if tx.execute(_MARK_ATTEMPTED, owned_progress(turn)).rowcount != 1:
                    return Superseded()
                if check is None:
                    self._insert_first(tx, record, epoch=turn.epoch)
                else:
                    self._insert_if_allowed(tx, record, epoch=turn.epoch, check=check)
        except _Refused as refused:
            return RefusedByPolicy(refused.decision)
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
            record = refund_record(tx.execute(FIND_REFUND, mine).one())
            if not _says(record, answer):
                self._keep_late_answer(tx, mine, answer)
            return refund_record(tx.execute(FIND_REFUND, mine).one())

    def find(self, turn_id: str) -> RefundRecord | None:
        """Return the turn's row, or None."""
        with self._database.statement() as one:
            row = one.execute(FIND_REFUND, {"own_turn": turn_id}).one_or_none()
        return None if row is None else refund_record(row)

    def _insert_first(self, tx: Connection, record: RefundRecord, *, epoch: int) -> None:
        if not self._insert_row(tx, record, epoch=epoch):
            raise _Conflict

    def _insert_if_allowed(
        self, tx: Connection, record: RefundRecord, *, epoch: int, check: PolicyCheck
    ) -> None:
        """Lock the order, insert, and only then ask what others have refunded and what the policy says.

        Once our row is in, no other turn can have an open refund of this order, and every paid one is in
        sight: nothing can pass on the balance that we see, even where the order itself is not in our
        tables and has no row to lock. A refusal takes our row away again. It also goes before "busy",
        so that nothing is told of an order that is not the customer's.
        """
        this = {"order_id": record.order_id, "turn_id": record.turn_id}
        order = tx.execute(LOCK_ORDER, this).one_or_none()
        inserted = self._insert_row(tx, record, epoch=epoch)
        if not inserted and tx.execute(FIND_REFUND, {"own_turn": record.turn_id}).one_or_none() is not None:
            raise _Conflict
        facts = LockedFacts(
            order=None if order is None else read_order(order),
            refunds=read_refunds(tx.execute(REFUNDS_OF_OTHERS, this).one()),
            today=read_day(tx.execute(TODAY).scalar_one()),
        )
        decision = check(facts)
        if not isinstance(decision, Approved):
            raise _Refused(decision)
        if decision.amount_cents != record.amount_cents:
            raise AssertionError("the policy approved another amount than the one to be claimed")
        if not inserted:
            raise _Conflict

    def _insert_row(self, tx: Connection, record: RefundRecord, *, epoch: int) -> bool:
        return tx.execute(self._insert, {**asdict(record), "epoch": epoch}).one_or_none() is not None

    def _keep_late_answer(self, tx: Connection, mine: dict[str, object], answer: PaymentAnswer) -> None:
        """An answer that came after somebody else decided is evidence for a person, and changes no state."""
        if isinstance(answer, Unknown):
            return
        evidence = json.dumps({"answer": type(answer).__name__, **asdict(answer)})
        kept: dict[str, object] = {"late_answer": evidence}
        if isinstance(answer, Paid):
            kept["review"] = True
        tx.execute(_KEEP_LATE_ANSWER.values(kept), mine)


def _says(record: RefundRecord, answer: PaymentAnswer) -> bool:
    """Whether the row says it already: by an earlier try to settle, whose own answer was lost."""
    settled: dict[str, object] = asdict(record)
    return all(
        settled.get(name) == value for name, value in answer_columns(answer).items() if name in settled
    )
