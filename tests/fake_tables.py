"""The fake turns table and ledger: one database in memory, with the promises of the ports' docstrings."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date

from refund_agent.orders import Order, RefundsSoFar
from refund_agent.outcomes import (
    AlreadyDecided,
    CallPosition,
    ClaimAnswer,
    Claimed,
    CreateAnswer,
    Created,
    Joined,
    KeyReused,
    NotAccepted,
    NotSent,
    OrderBusy,
    Paid,
    PaymentAnswer,
    RefundRecord,
    RefusedByPolicy,
    Rejected,
    Superseded,
    TurnOutcome,
    Unknown,
)
from refund_agent.policy import Approved, LockedFacts, PolicyCheck
from refund_agent.ports import Clock, StoreUnavailable
from refund_agent.turn import (
    NewTurn,
    Turn,
    TurnRecord,
    TurnState,
    UserMessage,
    decode_messages,
    encode_messages,
)


@dataclass
class StoredTurn:
    """A row of the turns table."""

    transcript: str
    deadline: float
    state: TurnState = "stored"
    epoch: int = 0
    owner: str = ""
    completions_used: int = 0
    attempts: int = 1
    refund_attempted: bool = False
    outcome: TurnOutcome | None = None
    request_id: str = ""


@dataclass
class FakeDatabase:
    """Both tables; `outages` lists the operations that fail next, by name, one entry a failure.

    An entry ending in `!` writes first and then loses the answer.
    """

    turns: dict[str, StoredTurn] = field(default_factory=dict[str, StoredTurn])
    refunds: dict[str, RefundRecord] = field(default_factory=dict[str, RefundRecord])
    claim_epochs: dict[str, int] = field(default_factory=dict[str, int])
    late_answers: dict[str, PaymentAnswer] = field(default_factory=dict[str, PaymentAnswer])
    outages: list[str] = field(default_factory=list[str])
    orders: dict[str, Order] = field(default_factory=dict[str, Order])
    today: date = date(2026, 11, 20)

    @contextmanager
    def transaction(self, name: str) -> Iterator[None]:
        if name in self.outages:
            self.outages.remove(name)
            raise StoreUnavailable(name)
        yield
        if f"{name}!" in self.outages:
            self.outages.remove(f"{name}!")
            raise StoreUnavailable(name)

    def owned(self, turn: Turn) -> StoredTurn | None:
        """Return the row if this owner's epoch still holds it."""
        row = self.turns[turn.id]
        return row if row.state == "running" and row.epoch == turn.epoch else None

    def refunds_of(self, order_id: str) -> RefundsSoFar:
        """Sum what the ledger says about an order."""
        of_order = [record for record in self.refunds.values() if record.order_id == order_id]
        paid = sum(record.amount_cents for record in of_order if record.state == "paid")
        unconfirmed = sum(
            record.amount_cents for record in of_order if record.state in {"claimed", "unknown"}
        )
        return RefundsSoFar(paid, unconfirmed, self.today if paid else None)

    def owner_dies(self, turn_id: str) -> None:
        """Do what the sweeper does with a turn whose lease has lapsed."""
        row = self.turns[turn_id]
        row.state, row.epoch = "queued", row.epoch + 1
        left = self.refunds.get(turn_id)
        if left is not None and left.state == "claimed":
            self.refunds[turn_id] = replace(
                left, state="unknown", detail="the worker died before it could settle"
            )


def _keep(row: StoredTurn, turn: Turn) -> None:
    row.transcript = encode_messages(turn.messages)
    row.completions_used, row.attempts = turn.completions_used, turn.attempts


class FakeLedger:
    """The gate over the shared tables."""

    def __init__(self, database: FakeDatabase) -> None:
        self._database = database

    def claim(
        self,
        turn: Turn,
        *,
        call: CallPosition,
        order_id: str,
        amount_cents: int,
        check: PolicyCheck | None = None,
    ) -> ClaimAnswer:
        tables = self._database
        with tables.transaction("claim"):
            row = tables.owned(turn)
            if row is None:
                return Superseded()
            if turn.id in tables.refunds:
                return AlreadyDecided(tables.refunds[turn.id])
            refunded = tables.refunds_of(order_id)
            if check is not None:
                decision = check(LockedFacts(tables.orders.get(order_id), refunded, tables.today))
                if not isinstance(decision, Approved):
                    return RefusedByPolicy(decision)
            if refunded.unconfirmed_cents:
                return OrderBusy(order_id)
            _keep(row, turn)
            row.refund_attempted = True
            record = RefundRecord(turn.id, "claimed", order_id, amount_cents, str(call))
            tables.refunds[turn.id] = record
            tables.claim_epochs[turn.id] = turn.epoch
        return Claimed(record)

    def settle(self, claimed: RefundRecord, *, epoch: int, answer: PaymentAnswer) -> RefundRecord:
        tables = self._database
        with tables.transaction("settle"):
            stands = tables.refunds[claimed.turn_id]
            mine = tables.claim_epochs[claimed.turn_id] == epoch
            if mine and stands.state == "claimed":
                tables.refunds[claimed.turn_id] = _settled(stands, answer)
            elif mine and _settled(stands, answer) != stands and not isinstance(answer, Unknown):
                tables.late_answers[claimed.turn_id] = answer
                review = stands.review or isinstance(answer, Paid)
                tables.refunds[claimed.turn_id] = replace(stands, review=review)
        return tables.refunds[claimed.turn_id]


def _settled(claimed: RefundRecord, answer: PaymentAnswer) -> RefundRecord:
    match answer:
        case Paid(refund_id, status, _):
            return replace(claimed, state="paid", refund_id=refund_id, status=status)
        case Rejected(detail):
            return replace(claimed, state="rejected", detail=detail)
        case NotSent(reason):
            return replace(claimed, state="not_sent", detail=reason)
        case Unknown(reason, review):
            return replace(claimed, state="unknown", detail=reason, review=review)


class FakeTurns:
    """The turns table over the shared tables."""

    def __init__(self, database: FakeDatabase, clock: Clock, *, deadline_seconds: float = 120.0) -> None:
        self._database = database
        self._clock = clock
        self._deadline_seconds = deadline_seconds
        self._keys: dict[str, tuple[str, str]] = {}

    def create(self, new: NewTurn) -> CreateAnswer:
        with self._database.transaction("create"):
            if new.idempotency_key in self._keys:
                turn_id, fingerprint = self._keys[new.idempotency_key]
                return Joined(turn_id) if fingerprint == new.fingerprint else KeyReused()
            if new.idempotency_key:
                self._keys[new.idempotency_key] = (new.id, new.fingerprint)
            deadline = self._clock.monotonic() + self._deadline_seconds
            transcript = encode_messages([UserMessage(new.message)])
            self._database.turns[new.id] = StoredTurn(transcript, deadline, request_id=new.request_id)
        return Created()

    def mark_queued(self, turn_id: str) -> None:
        with self._database.transaction("mark_queued"):
            row = self._database.turns[turn_id]
            if row.state == "stored":
                row.state = "queued"

    def begin(self, turn_id: str, *, owner: str) -> Turn | None:
        with self._database.transaction("begin"):
            row = self._database.turns.get(turn_id)
            if row is None or row.state not in {"stored", "queued"}:
                return None
            if self._clock.monotonic() >= row.deadline:
                return None
            row.state, row.owner, row.epoch = "running", owner, row.epoch + 1
            return Turn(
                id=turn_id,
                epoch=row.epoch,
                deadline=row.deadline,
                messages=decode_messages(row.transcript),
                completions_used=row.completions_used,
                attempts=row.attempts,
                refund_attempted=row.refund_attempted,
                refund=self._database.refunds.get(turn_id) if row.refund_attempted else None,
                request_id=row.request_id,
            )

    def checkpoint(self, turn: Turn) -> bool:
        with self._database.transaction("checkpoint"):
            row = self._database.owned(turn)
            if row is not None:
                _keep(row, turn)
            return row is not None

    def end(self, turn: Turn, outcome: TurnOutcome) -> bool:
        with self._database.transaction("end"):
            row = self._database.owned(turn)
            if row is not None:
                _keep(row, turn)
                row.state, row.outcome = "ended", outcome
            return row is not None

    def put_off(self, turn: Turn, *, seconds: int) -> None:
        with self._database.transaction("put_off"):
            row = self._database.owned(turn)
            if row is not None and not row.refund_attempted:
                row.state = "queued"

    def give_up(self, turn_id: str, outcome: TurnOutcome, *, only_stored: bool = False) -> TurnRecord:
        with self._database.transaction("give_up"):
            row = self._database.turns[turn_id]
            if row.state == "stored" or (row.state != "ended" and not only_stored):
                row.state, row.outcome = "ended", outcome
                self._database.refunds.setdefault(turn_id, RefundRecord(turn_id, "closed"))
                if outcome == NotAccepted():
                    self._keys = {key: kept for key, kept in self._keys.items() if kept[0] != turn_id}
            return self._record(turn_id)

    def find(self, turn_id: str) -> TurnRecord | None:
        with self._database.transaction("find"):
            return self._record(turn_id) if turn_id in self._database.turns else None

    def ended(self, turn_ids: Collection[str]) -> set[str]:
        with self._database.transaction("ended"):
            rows = self._database.turns
            return {i for i in turn_ids if i in rows and rows[i].state == "ended"}

    def _record(self, turn_id: str) -> TurnRecord:
        row = self._database.turns[turn_id]
        return TurnRecord(
            id=turn_id,
            state=row.state,
            created_at_ms=0,
            deadline_at_ms=round(row.deadline * 1000),
            completions_used=row.completions_used,
            attempts=row.attempts,
            epoch=row.epoch,
            outcome=row.outcome,
            refund=self._database.refunds.get(turn_id),
        )
