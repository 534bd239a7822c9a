"""The approval agent: it sends one refund that a person approved, with no model in it."""

from dataclasses import dataclass

import structlog

from refund_agent.approvals import Approval, Approvals, announce_result, pause_seconds
from refund_agent.conversations import Conversations
from refund_agent.eligibility import Eligibility
from refund_agent.notices import APPROVED_NOT_SENT
from refund_agent.orders import Orders, OrdersUnavailable, currency_of
from refund_agent.outcomes import CallPosition, Replied, Superseded, TurnOutcome
from refund_agent.ports import Turns
from refund_agent.reasons import NOT_WHAT_WAS_APPROVED, REFUSED
from refund_agent.refunds import Refunds
from refund_agent.replies import status_line
from refund_agent.tools import Answer, error
from refund_agent.turn import Turn

log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ApprovalAgent:
    """Sends a refund that a person approved: a turn whose id is the approval's, with no model in it.

    A shop that is away uses up nobody's decision: as long as nothing was attempted the turn is put off, for
    longer each time, until its deadline ends it. Each try judges and claims anew.
    """

    approvals: Approvals
    eligibility: Eligibility
    refunds: Refunds
    conversations: Conversations
    orders: Orders
    turns: Turns

    def run(self, turn: Turn) -> TurnOutcome | Superseded:
        """Claim, send and settle once; say the result in the conversation. `Superseded` when put off, too."""
        approval = self.approvals.find(turn.id)
        if approval is None:
            return Replied("refused: there is no such approved refund")
        try:
            answer = self._send(turn, approval)
        except OrdersUnavailable:
            return self._put_off(turn)
        if isinstance(answer, Superseded):
            return answer
        if turn.refund is not None:
            currency = currency_of(self.orders, approval.customer_id, approval.order_id)
            told = status_line(turn.refund, currency)
        else:
            why = str(answer.get("error", REFUSED.say())).removeprefix("not sent: ")
            told = APPROVED_NOT_SENT.say(reason=why)
        self.conversations.add(approval.conversation_id, announce_result(approval, told))
        return Replied(told)

    def _put_off(self, turn: Turn) -> Superseded:
        seconds = pause_seconds(turn.epoch)
        log.warning("approved_refund_put_off", turn_id=turn.id, seconds=seconds)
        self.turns.put_off(turn, seconds=seconds)
        return Superseded()

    def _send(self, turn: Turn, approval: Approval) -> Answer | Superseded:
        if approval.state != "approved" or not approval.is_intact:
            log.error("approval_not_intact", approval_id=approval.id, state=approval.state)
            return error(NOT_WHAT_WAS_APPROVED.say())
        customer_id, order_id, amount_cents = approval.customer_id, approval.order_id, approval.amount_cents
        return self.refunds.issue(
            turn,
            call=CallPosition(0, 0),
            order_id=order_id,
            amount_cents=amount_cents,
            make_check=lambda: self.eligibility.make_claim_check(
                customer_id, order_id, amount_cents, approved_by_person=True
            ),
        )
