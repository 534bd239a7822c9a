"""Deciding about approvals: the decision is saved once, and approving starts the refund's own turn.

The turn's id is the approval's. Whoever presses again, also after a crash between the two steps, finds the
turn that is there; a second one cannot be made.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from refund_agent.approvals import (
    Approval,
    Approvals,
    ApprovalState,
    DecideAnswer,
    Decided,
    NoSuchApproval,
    NotPending,
    OwnRequest,
)
from refund_agent.conversations import Conversations, Entry
from refund_agent.turn import NewTurn


@dataclass(frozen=True, slots=True)
class Sending:
    """Approved: the refund's turn is on its way, or was there already."""

    approval: Approval
    turn_id: str


Answer: TypeAlias = DecideAnswer | Sending


@dataclass(frozen=True, slots=True)
class ApprovalDesk:
    """Where staff decide. `start` is the facade's: it stores and queues a turn, once per idempotency key."""

    approvals: Approvals
    conversations: Conversations
    start: Callable[[NewTurn], object]

    def page(self, *, state: ApprovalState, limit: int) -> list[Approval]:
        """Return approvals in this state, oldest first."""
        return self.approvals.page(state=state, limit=limit)

    def decide(self, approval_id: str, *, approve: bool, by: str, note: str) -> Answer:
        """Save a decision and act on it; an approval whose turn was never started is started again."""
        answer = self.approvals.decide(approval_id, approve=approve, by=by, note=note)
        match answer:
            case Decided(approval):
                self._tell(approval)
                return self._send(approval, by=by) if approve else answer
            case NotPending(approval) if approve and approval.state == "approved":
                self._send(approval, by=by)
                return answer
            case NotPending() | NoSuchApproval() | OwnRequest():
                return answer

    def _send(self, approval: Approval, *, by: str) -> Sending:
        key = hashlib.sha256(f"approval\n{approval.id}".encode()).hexdigest()
        self.start(NewTurn(approval.id, by, "", idempotency_key=key, agent="approval"))
        return Sending(approval, approval.id)

    def expire(self) -> int:
        """Expire what waited too long and say so in its conversation; return how many."""
        expired = self.approvals.expire()
        for approval in expired:
            self._tell(approval)
        return len(expired)

    def _tell(self, approval: Approval) -> None:
        said = {
            "approved": "A colleague approved your refund. It is being sent.",
            "declined": f"A colleague declined your refund: {approval.decision_note}",
            "expired": "Your refund was not decided in time, so the request has expired. You may ask again.",
            "pending": "Your refund waits for a colleague's decision.",
        }[approval.state]
        entry = Entry(
            "approval", approval.decided_by or "system", said, key=f"{approval.id}:{approval.state}"
        )
        self.conversations.add(approval.conversation_id, entry)
