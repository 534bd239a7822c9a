"""Approvals: an escalated refund waits for a person, bound to its exact arguments, and is sent at most once.

Approving stores a turn under the approval's own id, which sends through the same claim, send and settle.
So pressing twice, or two people pressing, finds the one turn, and its one ledger row.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from refund_agent.conversations import Entry
from refund_agent.notices import APPROVED, DECLINED, EXPIRED, WAITS
from refund_agent.outcomes import RefundRecord

FIRST_PAUSE_SECONDS: Final = 15
LONGEST_PAUSE_SECONDS: Final = 300

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
    decided_at_ms: int | None = None

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


@dataclass(frozen=True, slots=True)
class BrokenOff:
    """An approved refund whose turn ended before it could say what became of it.

    `refund` is its ledger row; without one, or with a `closed` one, nothing was sent or ever will be.
    """

    approval: Approval
    refund: RefundRecord | None


DecideAnswer: TypeAlias = Decided | NotPending | NoSuchApproval | OwnRequest


class Approvals(Protocol):
    """The approvals; any call may raise `StoreUnavailable`.

    Each state that one comes to is said in its conversation in the same commit, by `announce`.
    """

    def request(self, new: NewApproval) -> Approval:
        """Store a pending approval; an order has one at a time, and then that one is returned.

        A turn that asks again after a crash gets what became of its first asking.
        """
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

    def broken_off(self) -> list[BrokenOff]:
        """Return approved ones whose turn has ended with nobody told of it: oldest first, at most 100."""
        ...


def pause_seconds(tries: int) -> int:
    """Return how long an approved refund waits when the shop was away at so many tries, 15 s to 5 minutes."""
    doublings = min(tries - 1, 10)  # enough for the longest pause, whatever the count
    return min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS << doublings)


def announce(approval: Approval) -> Entry:
    """Say in the conversation where an approval stands."""
    said = {
        "pending": WAITS.say(),
        "approved": APPROVED.say(),
        "declined": DECLINED.say(note=str(approval.decision_note)),
        "expired": EXPIRED.say(),
    }[approval.state]
    return Entry("approval", approval.decided_by or "system", said, key=f"{approval.id}:{approval.state}")


def announce_result(approval: Approval, told: str) -> Entry:
    """Say in the conversation what became of an approved refund: once, whoever comes to say it.

    The one entry that says it has the approval's own id, by which a store finds those of which nobody did.
    """
    return Entry("refund", "system", told, id=approval.id)


def bind(customer_id: str, order_id: str, amount_cents: int) -> str:
    """Return the hash that ties an approval to its exact arguments."""
    exact = json.dumps([customer_id, order_id, amount_cents])
    return hashlib.sha256(exact.encode()).hexdigest()
