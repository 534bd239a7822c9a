"""Deciding about approvals: saved once, together with the turn that sends the refund.

The turn's id is the approval's, so a second one cannot be made. It is stored as queued in the commit that
saves the decision: should its message be lost, or this process die, the sweeper queues it again.
"""

from dataclasses import dataclass

import structlog

from refund_agent.approvals import Approval, Approvals, ApprovalState, DecideAnswer, Decided
from refund_agent.conversations import Conversations, Entry
from refund_agent.ports import Queue, QueueUnavailable

log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ApprovalDesk:
    """Where staff decide. Any call may raise `StoreUnavailable`."""

    approvals: Approvals
    conversations: Conversations
    queue: Queue

    def page(self, *, state: ApprovalState, limit: int) -> list[Approval]:
        """Return approvals in this state, oldest first."""
        return self.approvals.page(state=state, limit=limit)

    def find(self, approval_id: str) -> Approval | None:
        """Return one, or None."""
        return self.approvals.find(approval_id)

    def decide(self, approval_id: str, *, approve: bool, by: str, note: str) -> DecideAnswer:
        """Save a decision, tell it in the conversation, and let the refund's turn run."""
        answer = self.approvals.decide(approval_id, approve=approve, by=by, note=note)
        if isinstance(answer, Decided):
            self._tell(answer.approval)
            if approve:
                self._queue_turn(answer.approval.id)
        return answer

    def expire(self) -> int:
        """Expire what waited too long and say so in its conversation; return how many."""
        expired = self.approvals.expire()
        for approval in expired:
            log.warning("approval_expired", approval_id=approval.id)
            self._tell(approval)
        return len(expired)

    def _queue_turn(self, turn_id: str) -> None:
        try:
            self.queue.put(turn_id)
        except QueueUnavailable as error:
            log.warning("approval_left_to_the_sweeper", turn_id=turn_id, error=str(error))

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
