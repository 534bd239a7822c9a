"""Deciding about approvals: saved once, together with the turn that sends the refund.

The turn's id is the approval's, so a second one cannot be made. It is stored as queued in the commit that
saves the decision: should its message be lost, or this process die, the sweeper queues it again. What is
decided or expires is said in the conversation in the same commit.
"""

from dataclasses import dataclass

import structlog

from refund_agent.approvals import (
    Approval,
    Approvals,
    ApprovalState,
    BrokenOff,
    DecideAnswer,
    Decided,
    announce_result,
)
from refund_agent.conversations import Conversations
from refund_agent.notices import APPROVED_NOT_SENT
from refund_agent.ports import Queue, QueueUnavailable
from refund_agent.reasons import NOT_IN_TIME
from refund_agent.replies import status_line

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
        """Save a decision, and let the refund's turn run."""
        answer = self.approvals.decide(approval_id, approve=approve, by=by, note=note)
        if isinstance(answer, Decided) and approve:
            self._queue_turn(answer.approval.id)
        return answer

    def expire(self) -> int:
        """Expire what waited too long; return how many."""
        expired = self.approvals.expire()
        for approval in expired:
            log.warning("approval_expired", approval_id=approval.id)
        return len(expired)

    def tell_broken_off(self) -> int:
        """Tell the customer of each approved refund whose turn died before it could; return how many."""
        broken_off = self.approvals.broken_off()
        for found in broken_off:
            approval = found.approval
            log.error("approved_refund_broken_off", approval_id=approval.id)
            self.conversations.add(approval.conversation_id, announce_result(approval, _result(found)))
        return len(broken_off)

    def _queue_turn(self, turn_id: str) -> None:
        try:
            self.queue.put(turn_id)
        except QueueUnavailable as error:
            log.warning("approval_left_to_the_sweeper", turn_id=turn_id, error=str(error))


def _result(found: BrokenOff) -> str:
    if found.refund is None or found.refund.state == "closed":
        return APPROVED_NOT_SENT.say(reason=NOT_IN_TIME.say())
    return status_line(found.refund, currency="")
