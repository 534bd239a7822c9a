"""Approvals in SQL: one pending per order, decided once."""

import uuid
from typing import Any

from sqlalchemy import Connection, Select, exists, select, update

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_entries import add_entry
from refund_agent.adapters.sql_rows import RECORD_COLUMNS, refund_record
from refund_agent.adapters.sql_support_tables import approvals, conversations, entries
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.approvals import (
    Approval,
    ApprovalState,
    BrokenOff,
    DecideAnswer,
    Decided,
    NewApproval,
    NoSuchApproval,
    NotPending,
    OwnRequest,
    announce,
    bind,
)
from refund_agent.ports import StoreUnavailable
from refund_agent.turn import encode_messages

TURN_MS = 3600 * 1000
"""How long an approved refund may wait for a broker or a worker before it is given up."""
DAY_MS = 24 * 3600 * 1000
MAX_BROKEN_OFF = 100
"""How many are told at a time; the others are told with the next sweep."""
_NAMES = uuid.UUID("5d2a1f0e-93c4-4b0b-8a63-1f3c7a0d9e42")
"""The namespace of approvals' ids: a turn that asks again for the same refund finds its first asking."""

_COLUMNS = (
    approvals.c.id,
    approvals.c.turn_id,
    approvals.c.conversation_id,
    approvals.c.customer_id,
    approvals.c.order_id,
    approvals.c.amount_cents,
    approvals.c.arguments_hash,
    approvals.c.reason,
    approvals.c.policy_version,
    approvals.c.state,
    approvals.c.requested_at_ms,
    approvals.c.expires_at_ms,
    approvals.c.decided_by,
    approvals.c.decision_note,
    approvals.c.decided_at_ms,
)
"""In the order of `Approval`'s fields."""
_ENDED_WITHOUT_A_WORD = (
    select(*_COLUMNS, *RECORD_COLUMNS)
    .select_from(
        approvals.join(turns, turns.c.id == approvals.c.id)
        .join(conversations, conversations.c.id == approvals.c.conversation_id)  # old ones are forgotten
        .outerjoin(refunds, refunds.c.turn_id == approvals.c.id)
    )
    .where(
        approvals.c.state == "approved",
        turns.c.state == "ended",
        turns.c.outcome != "replied",
        ~exists().where(entries.c.id == approvals.c.id),  # the one that tells its result
    )
    .order_by(turns.c.ended_at_ms, approvals.c.id)
    .limit(MAX_BROKEN_OFF)
)


class SqlApprovals:
    """Implements the port `Approvals`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def request(self, new: NewApproval) -> Approval:
        """Store a pending approval, unless the turn has asked for it before or the order has one pending."""
        asked = f"{new.turn_id} {bind(new.customer_id, new.order_id, new.amount_cents)}"
        approval_id = str(uuid.uuid5(_NAMES, asked))
        row = {
            "id": approval_id,
            "turn_id": new.turn_id,
            "conversation_id": new.conversation_id,
            "customer_id": new.customer_id,
            "order_id": new.order_id,
            "amount_cents": new.amount_cents,
            "arguments_hash": bind(new.customer_id, new.order_id, new.amount_cents),
            "reason": new.reason,
            "policy_version": new.policy_version,
            "state": "pending",
            "requested_at_ms": now_ms(),
            "expires_at_ms": now_ms() + new.expiry_days * DAY_MS,
        }
        store = self._database.insert_or_ignore(approvals).values(row).returning(*_COLUMNS)
        before = _asked().where(approvals.c.id == approval_id)
        waiting = _asked().where(approvals.c.order_id == new.order_id, approvals.c.state == "pending")
        with self._database.transaction() as tx:
            stored = tx.execute(store).one_or_none()
            if stored is not None:
                return self._announced(tx, Approval(*stored))
            stands = tx.execute(before).one_or_none() or tx.execute(waiting).one_or_none()
        if stands is None:
            raise StoreUnavailable("the order's pending approval has just been decided")
        return Approval(*stands)

    def find(self, approval_id: str) -> Approval | None:
        """Return one, or None."""
        with self._database.statement() as one:
            row = one.execute(_asked().where(approvals.c.id == approval_id)).one_or_none()
        return None if row is None else Approval(*row)

    def page(self, *, state: ApprovalState, limit: int) -> list[Approval]:
        """Return approvals in this state, oldest first."""
        asked = _asked().where(approvals.c.state == state).order_by(approvals.c.requested_at_ms).limit(limit)
        with self._database.statement() as one:
            return [Approval(*row) for row in one.execute(asked)]

    def decide(self, approval_id: str, *, approve: bool, by: str, note: str) -> DecideAnswer:
        """Save a person's decision, once; approving stores the refund's queued turn in the same commit."""
        decide = (
            update(approvals)
            .where(
                approvals.c.id == approval_id,
                approvals.c.state == "pending",
                approvals.c.expires_at_ms > now_ms(),
                approvals.c.customer_id != by,
            )
            .values(
                state="approved" if approve else "declined",
                decided_by=by,
                decision_note=note,
                decided_at_ms=now_ms(),
            )
            .returning(*_COLUMNS)
        )
        with self._database.transaction() as tx:
            row = tx.execute(decide).one_or_none()
            if row is not None:
                if approve:
                    tx.execute(self._database.insert_or_ignore(turns).values(_turn(approval_id, by)))
                return Decided(self._announced(tx, Approval(*row)))
        found = self.find(approval_id)
        if found is None:
            return NoSuchApproval()
        return OwnRequest() if found.state == "pending" and found.customer_id == by else NotPending(found)

    def expire(self) -> list[Approval]:
        """Expire what waited too long; return each once."""
        expire = (
            update(approvals)
            .where(approvals.c.state == "pending", approvals.c.expires_at_ms <= now_ms())
            .values(state="expired", decided_at_ms=now_ms())
            .returning(*_COLUMNS)
        )
        with self._database.transaction() as tx:
            return [self._announced(tx, Approval(*row)) for row in tx.execute(expire).all()]

    def broken_off(self) -> list[BrokenOff]:
        """Return approved ones whose turn has ended with nobody told of it: oldest first, at most 100."""
        with self._database.statement() as one:
            return [_broken_off(row) for row in one.execute(_ENDED_WITHOUT_A_WORD)]

    def _announced(self, tx: Connection, approval: Approval) -> Approval:
        add_entry(self._database, tx, approval.conversation_id, announce(approval))
        return approval


def _broken_off(row: Any) -> BrokenOff:  # noqa: ANN401 - a row of `_ENDED_WITHOUT_A_WORD`
    refund = row[len(_COLUMNS) :]
    return BrokenOff(Approval(*row[: len(_COLUMNS)]), None if refund[0] is None else refund_record(refund))


def _turn(approval_id: str, by: str) -> dict[str, object]:
    return {
        "id": approval_id,
        "agent": "approval",
        "user_id": by,
        "request_id": "",
        "state": "queued",
        "epoch": 0,
        "owner": "",
        "completions_used": 0,
        "attempts": 1,
        "refund_attempted": False,
        "cost_microdollars": 0,
        "transcript": encode_messages([]),
        "created_at_ms": now_ms(),
        "queued_at_ms": now_ms(),
        "deadline_at_ms": now_ms() + TURN_MS,
    }


def _asked() -> Select[*tuple[Any, ...]]:
    return select(*_COLUMNS)
