"""The turns table. Every write of a running turn carries its epoch: a stale owner's write matches no row."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import BigInteger, Connection, Executable, bindparam, case, func, select, update

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_entries import open_conversation
from refund_agent.adapters.sql_rows import (
    FIND_REFUND,
    OWN_TURN,
    OWNED,
    RECORD_COLUMNS,
    outcome_columns,
    owned_progress,
    read_outcome,
    refund_record,
)
from refund_agent.adapters.sql_tables import NEW_ROW, refunds, turns
from refund_agent.outcomes import (
    ConversationBusy,
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
    turns.c.agent,
    turns.c.user_id,
    turns.c.conversation_id,
)


_FIND = (
    select(*FOUND_COLUMNS, *RECORD_COLUMNS)
    .select_from(turns.outerjoin(refunds, refunds.c.turn_id == turns.c.id))
    .where(turns.c.id == OWN_TURN)
)
_KEY_HOLDER = select(turns.c.id, turns.c.fingerprint).where(turns.c.idempotency_key == bindparam("key"))
_MARK_QUEUED = (
    update(turns)
    .where(turns.c.id == OWN_TURN, turns.c.state == "stored")
    .values(state="queued", queued_at_ms=now_ms())
)
_CHECKPOINT = update(turns).where(OWNED)
_END = update(turns).where(OWNED).values(state="ended", ended_at_ms=now_ms())
_PUT_OFF = (
    update(turns)
    .where(OWNED, turns.c.refund_attempted.is_(False))
    .values(
        state="queued",
        owner="",
        put_off=turns.c.put_off + 1,
        queued_at_ms=now_ms() + bindparam("pause_ms", type_=BigInteger()),
    )
)
_ENDED = select(turns.c.id).where(turns.c.id.in_(bindparam("ids", expanding=True)), turns.c.state == "ended")
_WAITING = (
    (turns.c.id == OWN_TURN) & turns.c.state.in_(("stored", "queued")) & (turns.c.deadline_at_ms > now_ms())
)


class SqlTurns:
    """Implements the port `Turns`."""

    def __init__(
        self, database: Database, *, clock: Clock, deadline_seconds: float, lease_seconds: float
    ) -> None:
        self._database = database
        self._clock = clock
        self._create = _create(database, deadline_ms=round(deadline_seconds * 1000))
        self._begin = _begin(lease_ms=round(lease_seconds * 1000))

    def create(self, new: NewTurn) -> CreateAnswer:
        """Store a turn as `stored`, and its conversation with it if that is new.

        One per idempotency key, and one unended per conversation.
        """
        row = {
            "id": new.id,
            "agent": new.agent,
            "user_id": new.user_id,
            "conversation_id": new.conversation_id or None,
            "request_id": new.request_id,
            "idempotency_key": new.idempotency_key or None,
            "fingerprint": new.fingerprint,
            "transcript": encode_messages([UserMessage(new.message)]),
        }
        with self._database.transaction() if new.conversation_id else self._database.statement() as one:
            if one.execute(self._create, row).one_or_none() is not None:
                if new.conversation_id:
                    open_conversation(self._database, one, new.conversation_id, customer_id=new.user_id)
                return Created()
        with self._database.statement() as one:
            held = one.execute(_KEY_HOLDER, {"key": new.idempotency_key}).one_or_none()
        if held is None and new.conversation_id:
            return ConversationBusy()
        if held is None:
            raise StoreUnavailable("the key's turn has just freed it")
        return Joined(held.id) if held.fingerprint == new.fingerprint else KeyReused()

    def knows_key(self, idempotency_key: str) -> bool:
        """Whether a turn holds this idempotency key; raise `StoreUnavailable`."""
        with self._database.statement() as one:
            return one.execute(_KEY_HOLDER, {"key": idempotency_key}).one_or_none() is not None

    def mark_queued(self, turn_id: str) -> None:
        """Record that the broker took the message; a turn that has begun already stays as it is."""
        with self._database.statement() as one:
            one.execute(_MARK_QUEUED, {"own_turn": turn_id})

    def begin(self, turn_id: str, *, owner: str) -> Turn | None:
        """Take a waiting turn in one UPDATE; a second delivery matches no row."""
        asked_at = (
            self._clock.monotonic()
        )  # before the statement: a slow answer must not postpone the deadline
        with self._database.statement() as one:
            row = one.execute(self._begin, {"own_turn": turn_id, "owner": owner}).one_or_none()
        if row is None:
            return None
        return Turn(
            id=turn_id,
            epoch=row.epoch,
            deadline=asked_at + row.left_ms / 1000,
            messages=decode_messages(row.transcript),
            completions_used=row.completions_used,
            attempts=row.attempts,
            refund_attempted=row.refund_attempted,
            refund=self._find_refund(turn_id) if row.refund_attempted else None,
            request_id=row.request_id,
            agent=row.agent,
            user_id=row.user_id,
            conversation_id=row.conversation_id or "",
            tokens_used=row.tokens_used,
            cost_microdollars=row.cost_microdollars,
        )

    def checkpoint(self, turn: Turn) -> bool:
        """Keep the turn's state; False when this owner's epoch no longer holds it."""
        with self._database.statement() as one:
            return one.execute(_CHECKPOINT, owned_progress(turn)).rowcount == 1

    def end(self, turn: Turn, outcome: TurnOutcome) -> bool:
        """End the turn; False when this owner's epoch no longer holds it."""
        with self._database.statement() as one:
            ended = {**owned_progress(turn), **outcome_columns(outcome)}
            return one.execute(_END, ended).rowcount == 1

    def put_off(self, turn: Turn, *, seconds: int) -> None:
        """Give the turn back, to be queued again by a sweeper after this pause and a lease."""
        with self._database.statement() as one:
            one.execute(_PUT_OFF, {**owned_progress(turn), "pause_ms": seconds * 1000})

    def give_up(self, turn_id: str, outcome: TurnOutcome, *, only_stored: bool = False) -> TurnRecord:
        """Close the gate and end the turn, unless something came first; return what now stands.

        A turn that can never run frees its idempotency key, unless its refund was attempted.
        """
        unended = turns.c.state == "stored" if only_stored else turns.c.state != "ended"
        ended: dict[str, object] = {
            "state": "ended",
            "ended_at_ms": now_ms(),
            **outcome_columns(outcome),
        }
        if isinstance(outcome, NotAccepted):
            ended["idempotency_key"] = case((turns.c.refund_attempted, turns.c.idempotency_key))
        closed = {**NEW_ROW, "turn_id": turn_id, "state": "closed", "decided_at_ms": now_ms()}
        with self._database.transaction() as tx:
            if tx.execute(update(turns).where(turns.c.id == turn_id, unended).values(ended)).rowcount == 1:
                tx.execute(self._database.insert_or_ignore(refunds).values(closed))
            found = _find(tx, turn_id)
        if found is None:
            raise LookupError(f"turn {turn_id} was never stored")
        return found

    def find(self, turn_id: str) -> TurnRecord | None:
        """Return the turn with its ledger row, or None."""
        with self._database.statement() as one:
            return _find(one, turn_id)

    def ended(self, turn_ids: Collection[str]) -> set[str]:
        """Return those of the ids whose turn has ended."""
        with self._database.statement() as one:
            return set(one.execute(_ENDED, {"ids": list(turn_ids)}).scalars())

    def _find_refund(self, turn_id: str) -> RefundRecord | None:
        with self._database.statement() as one:
            row: Sequence[Any] | None = one.execute(FIND_REFUND, {"own_turn": turn_id}).one_or_none()
        return None if row is None else refund_record(row)


def _create(database: Database, *, deadline_ms: int) -> Executable:
    """Build the INSERT of a new turn; it returns nothing where the idempotency key is taken."""
    new = {
        "state": "stored",
        "epoch": 0,
        "owner": "",
        "completions_used": 0,
        "attempts": 1,
        "refund_attempted": False,
        "cost_microdollars": 0,
        "created_at_ms": now_ms(),
        "deadline_at_ms": now_ms() + deadline_ms,
    }
    return database.insert_or_ignore(turns).values(new).returning(turns.c.id)


def _begin(*, lease_ms: int) -> Executable:
    """Build the UPDATE that takes a waiting turn."""
    taken = {
        "state": "running",
        "epoch": turns.c.epoch + 1,
        "begun_at_ms": func.coalesce(turns.c.begun_at_ms, now_ms()),
        "lease_until_ms": now_ms() + lease_ms,
    }
    return (
        update(turns)
        .where(_WAITING)
        .values(taken)
        .returning(
            turns.c.epoch,
            turns.c.transcript,
            turns.c.completions_used,
            turns.c.attempts,
            turns.c.refund_attempted,
            turns.c.request_id,
            turns.c.agent,
            turns.c.user_id,
            turns.c.conversation_id,
            turns.c.tokens_used,
            turns.c.cost_microdollars,
            (turns.c.deadline_at_ms - now_ms()).label("left_ms"),
        )
    )


def _find(one: Connection, turn_id: str) -> TurnRecord | None:
    row: Sequence[Any] | None = one.execute(_FIND, {"own_turn": turn_id}).one_or_none()
    if row is None:
        return None
    return turn_record(row)


def turn_record(row: Sequence[Any]) -> TurnRecord:
    """Read a row selected by `FOUND_COLUMNS` and `RECORD_COLUMNS`, joined."""
    turn_id, state, created, deadline, used, attempts, epoch, *ended = row[: len(FOUND_COLUMNS)]
    outcome, reply, reason, agent, user, conversation = ended
    refund = row[len(FOUND_COLUMNS) :]
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
        agent=agent,
        user_id=user,
        conversation_id=conversation or "",
    )
