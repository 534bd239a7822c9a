"""The turns table. Every write of a running turn carries its epoch: a stale owner's write matches no row."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, case, func, select, update

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_rows import RECORD_COLUMNS, outcome_columns, read_outcome, refund_record
from refund_agent.adapters.sql_tables import NEW_ROW, refunds, turns
from refund_agent.outcomes import (
    CreateAnswer,
    Created,
    Joined,
    KeyReused,
    NotAccepted,
    RefundRecord,
    TurnOutcome,
)
from refund_agent.ports import Clock, StoreUnavailable
from refund_agent.turn import NewTurn, Turn, TurnRecord, UserMessage, decode_messages, encode_messages

FOUND_COLUMNS = (
    turns.c.id,
    turns.c.state,
    turns.c.created_at_ms,
    turns.c.deadline_at_ms,
    turns.c.completions_used,
    turns.c.attempts,
    turns.c.epoch,
    turns.c.outcome,
    turns.c.reply,
    turns.c.reason,
)


class SqlTurns:
    """Implements the port `Turns`."""

    def __init__(
        self, database: Database, *, clock: Clock, deadline_seconds: float, lease_seconds: float
    ) -> None:
        self._database = database
        self._clock = clock
        self._deadline_ms = round(deadline_seconds * 1000)
        self._lease_ms = round(lease_seconds * 1000)

    def create(self, new: NewTurn) -> CreateAnswer:
        """Store a turn as `stored`; of two requests with one idempotency key, the first is stored."""
        row = {
            "id": new.id,
            "user_id": new.user_id,
            "request_id": new.request_id,
            "idempotency_key": new.idempotency_key or None,
            "fingerprint": new.fingerprint,
            "state": "stored",
            "epoch": 0,
            "owner": "",
            "completions_used": 0,
            "attempts": 1,
            "refund_attempted": False,
            "transcript": encode_messages([UserMessage(new.message)]),
            "created_at_ms": now_ms(),
            "deadline_at_ms": now_ms() + self._deadline_ms,
        }
        add = self._database.insert_or_ignore(turns).values(row).returning(turns.c.id)
        holder = select(turns.c.id, turns.c.fingerprint).where(turns.c.idempotency_key == new.idempotency_key)
        with self._database.transaction() as tx:
            if tx.execute(add).one_or_none() is not None:
                return Created()
            held = tx.execute(holder).one_or_none()
        if held is None:
            raise StoreUnavailable("the key's turn has just freed it")
        return Joined(held.id) if held.fingerprint == new.fingerprint else KeyReused()

    def mark_queued(self, turn_id: str) -> None:
        """Record that the broker took the message; a turn that has begun already stays as it is."""
        stored = (turns.c.id == turn_id) & (turns.c.state == "stored")
        with self._database.transaction() as tx:
            tx.execute(update(turns).where(stored).values(state="queued", queued_at_ms=now_ms()))

    def begin(self, turn_id: str, *, owner: str) -> Turn | None:
        """Take a waiting turn in one UPDATE; a second delivery matches no row."""
        waiting = (
            (turns.c.id == turn_id)
            & turns.c.state.in_(("stored", "queued"))
            & (turns.c.deadline_at_ms > now_ms())
        )
        take = (
            update(turns)
            .where(waiting)
            .values(
                state="running",
                epoch=turns.c.epoch + 1,
                owner=owner,
                begun_at_ms=func.coalesce(turns.c.begun_at_ms, now_ms()),
                lease_until_ms=now_ms() + self._lease_ms,
            )
            .returning(
                turns.c.epoch,
                turns.c.transcript,
                turns.c.completions_used,
                turns.c.attempts,
                turns.c.refund_attempted,
                turns.c.request_id,
                (turns.c.deadline_at_ms - now_ms()).label("left_ms"),
            )
        )
        with self._database.transaction() as tx:
            row = tx.execute(take).one_or_none()
            if row is None:
                return None
            refund = _find_refund(tx, turn_id) if row.refund_attempted else None
        return Turn(
            id=turn_id,
            epoch=row.epoch,
            deadline=self._clock.monotonic() + row.left_ms / 1000,
            messages=decode_messages(row.transcript),
            completions_used=row.completions_used,
            attempts=row.attempts,
            refund_attempted=row.refund_attempted,
            refund=refund,
            request_id=row.request_id,
        )

    def checkpoint(self, turn: Turn) -> bool:
        """Keep the turn's state; False when this owner's epoch no longer holds it."""
        return self._write(turn, {})

    def end(self, turn: Turn, outcome: TurnOutcome) -> bool:
        """End the turn; False when this owner's epoch no longer holds it."""
        return self._write(turn, {"state": "ended", "ended_at_ms": now_ms(), **outcome_columns(outcome)})

    def _write(self, turn: Turn, values: dict[str, object]) -> bool:
        owned = (turns.c.id == turn.id) & (turns.c.epoch == turn.epoch) & (turns.c.state == "running")
        kept = {
            "transcript": encode_messages(turn.messages),
            "completions_used": turn.completions_used,
            "attempts": turn.attempts,
        }
        with self._database.transaction() as tx:
            return tx.execute(update(turns).where(owned).values(kept | values)).rowcount == 1

    def give_up(self, turn_id: str, outcome: TurnOutcome) -> TurnRecord:
        """Close the gate and end the turn, unless something came first; return what now stands.

        A turn that can never run frees its idempotency key, unless its refund was attempted.
        """
        unended = (turns.c.id == turn_id) & (turns.c.state != "ended")
        ended: dict[str, object] = {
            "state": "ended",
            "ended_at_ms": now_ms(),
            **outcome_columns(outcome),
        }
        if isinstance(outcome, NotAccepted):
            ended["idempotency_key"] = case((turns.c.refund_attempted, turns.c.idempotency_key))
        closed = {**NEW_ROW, "turn_id": turn_id, "state": "closed", "decided_at_ms": now_ms()}
        with self._database.transaction() as tx:
            if tx.execute(update(turns).where(unended).values(ended)).rowcount == 1:
                tx.execute(self._database.insert_or_ignore(refunds).values(closed))
            found = _find(tx, turn_id)
        if found is None:
            raise LookupError(f"turn {turn_id} was never stored")
        return found

    def find(self, turn_id: str) -> TurnRecord | None:
        """Return the turn with its ledger row, or None."""
        with self._database.transaction(read_only=True) as tx:
            return _find(tx, turn_id)

    def ended(self, turn_ids: Collection[str]) -> set[str]:
        """Return those of the ids whose turn has ended."""
        asked = select(turns.c.id).where(turns.c.id.in_(turn_ids), turns.c.state == "ended")
        with self._database.transaction(read_only=True) as tx:
            return set(tx.execute(asked).scalars())


def _find(tx: Connection, turn_id: str) -> TurnRecord | None:
    both = turns.outerjoin(refunds, refunds.c.turn_id == turns.c.id)
    asked = select(*FOUND_COLUMNS, *RECORD_COLUMNS).select_from(both).where(turns.c.id == turn_id)
    row: Sequence[Any] | None = tx.execute(asked).one_or_none()
    if row is None:
        return None
    return turn_record(row)


def turn_record(row: Sequence[Any]) -> TurnRecord:
    """Read a row selected by `FOUND_COLUMNS` and `RECORD_COLUMNS`, joined."""
    turn_id, state, created, deadline, used, attempts, epoch, outcome, reply, reason, *refund = row
    return TurnRecord(
        id=turn_id,
        state=state,
        created_at_ms=created,
        deadline_at_ms=deadline,
        completions_used=used,
        attempts=attempts,
        epoch=epoch,
        outcome=read_outcome(outcome, reply, reason),
        refund=None if refund[0] is None else refund_record(refund),
    )


def _find_refund(tx: Connection, turn_id: str) -> RefundRecord | None:
    asked = select(*RECORD_COLUMNS).where(refunds.c.turn_id == turn_id)
    row: Sequence[Any] | None = tx.execute(asked).one_or_none()
    return None if row is None else refund_record(row)
