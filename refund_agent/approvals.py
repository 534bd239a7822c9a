"""Approvals: an escalated refund waits for a person, bound to its exact arguments, and is sent at most once.

Approving stores a turn under the approval's own id, which sends through the same claim, send and settle.
So pressing twice, or two people pressing, finds the one turn, and its one ledger row.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

ApprovalState: TypeAlias = Literal["pending", "approved", "declined", "expired"]


@dataclass(frozen=True, slots=True)
class Approval:
    """One refund that waits for a person, or has been decided. Times are milliseconds of database time."""

    id: str
    turn_id: str
    conversation_id: str
    customer_id: str
    order_id: str
    amount_cents: int
    arguments_hash: str
    reason: str
    policy_version: str
    state: ApprovalState
    requested_at_ms: int
    expires_at_ms: int
    decided_by: str | None = None
    decision_note: str | None = None

    @property
    def is_intact(self) -> bool:
        """Whether order, amount and customer are still those that the approval was made for."""
        return self.arguments_hash == bind(self.customer_id, self.order_id, self.amount_cents)


@dataclass(frozen=True, slots=True)
class NewApproval:
    """What the policy sent to a person."""

    turn_id: str
    conversation_id: str
    customer_id: str
    order_id: str
    amount_cents: int
    reason: str
    policy_version: str
    expiry_days: int


@dataclass(frozen=True, slots=True)
class Decided:
    """The decision is saved. Nothing has been sent by saving it."""

    approval: Approval


@dataclass(frozen=True, slots=True)
class NotPending:
    """Somebody decided first, or it expired: this is what stands. Nothing was changed."""

    approval: Approval


@dataclass(frozen=True, slots=True)
class NoSuchApproval:
    """There is none of this id."""


@dataclass(frozen=True, slots=True)
class OwnRequest:
    """The requester may not decide about it. Nothing was changed."""


DecideAnswer: TypeAlias = Decided | NotPending | NoSuchApproval | OwnRequest


class Approvals(Protocol):
    """The approvals; any call may raise `StoreUnavailable`."""

    def request(self, new: NewApproval) -> Approval:
        """Store a pending approval; an order has one at a time, and then that one is returned."""
        ...

    def find(self, approval_id: str) -> Approval | None:
        """Return one, or None."""
        ...

    def page(self, *, state: ApprovalState, limit: int) -> list[Approval]:
        """Return approvals in this state, oldest first."""
        ...

    def decide(self, approval_id: str, *, approve: bool, by: str, note: str) -> DecideAnswer:
        """Save a person's decision, once, and only while it is pending and has not expired.

        Approving stores the queued turn of the refund in the same commit.
        """
        ...

    def expire(self) -> list[Approval]:
        """Expire what waited too long; return each once."""
        ...


def bind(customer_id: str, order_id: str, amount_cents: int) -> str:
    """Return the hash that ties an approval to its exact arguments."""
    exact = json.dumps([customer_id, order_id, amount_cents])
    return hashlib.sha256(exact.encode()).hexdigest()
