"""The support agent's tools, all scoped to the signed-in customer. The model proposes, the code disposes.

Whose tools these are is the turn's own `user_id`, which comes from the customer's token: no argument of the
model names a customer.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias

from marshmallow import RAISE, Schema, ValidationError, fields

from refund_agent.approvals import Approvals, NewApproval
from refund_agent.conversations import Conversations, Entry
from refund_agent.eligibility import Eligibility, JudgedOrder
from refund_agent.money import write_cents
from refund_agent.notices import (
    HANDED_OVER,
    HANDED_OVER_ABOUT,
    HANDED_OVER_ABOUT_BECAUSE,
    HANDED_OVER_BECAUSE,
)
from refund_agent.orders import Order, Orders, OrdersUnavailable
from refund_agent.outcomes import CallPosition, Superseded
from refund_agent.policy import Approved, Decision, Denied, Escalated, Refusal
from refund_agent.policy_text import say
from refund_agent.refunds import Refunds
from refund_agent.replies import without_claims
from refund_agent.tools import AmountCents, Answer, IssueRefundArguments, OrderId, Tool, Toolbox, error
from refund_agent.turn import Turn

MAX_LISTED_ORDERS = 20
MAX_REASON_LENGTH = 500
UNAVAILABLE = "the orders cannot be looked up right now; nothing was decided and nothing was sent"


NoteDecision: TypeAlias = Callable[[Turn, CallPosition, Decision], object]
"""Is told what the policy said to a tool that merely asked: more than the model is told."""


class Reason(fields.Field[str]):
    """Why a person is needed, in a sentence."""

    declared: ClassVar[dict[str, object]] = {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_REASON_LENGTH,
        "description": "Why a colleague is needed, in one sentence.",
    }

    def _deserialize(self, value: object, *_: object, **__: object) -> str:
        if not isinstance(value, str) or not value.strip():
            raise ValidationError("must be a sentence")
        if len(value) > MAX_REASON_LENGTH:
            raise ValidationError(f"must be at most {MAX_REASON_LENGTH} characters")
        return value


class _Strict(Schema):
    class Meta:
        """Refuse keys that are not declared."""

        unknown = RAISE


class NoArguments(_Strict):
    """A tool that needs to be told nothing."""


class OrderArguments(_Strict):
    """Which order."""

    order_id = OrderId(required=True)


class EligibilityArguments(_Strict):
    """Which order, and how much of it."""

    order_id = OrderId(required=True)
    amount_cents = AmountCents(required=True)


class EscalateArguments(_Strict):
    """Why a person, and about which order."""

    order_id = OrderId()
    reason = Reason(required=True)


class SupportTools:
    """What the model may do for one customer."""

    def __init__(  # noqa: PLR0913 - what its tools call, all in sight
        self,
        *,
        orders: Orders,
        eligibility: Eligibility,
        refunds: Refunds,
        approvals: Approvals,
        conversations: Conversations,
        note_decision: NoteDecision = lambda _turn, _call, _decision: None,
    ) -> None:
        self._orders = orders
        self._eligibility = eligibility
        self._refunds = refunds
        self._approvals = approvals
        self._conversations = conversations
        self._note_decision = note_decision

    def toolbox(self) -> Toolbox:
        """Put the six tools together."""
        return Toolbox(
            [
                Tool(
                    "get_my_profile",
                    "Who the signed-in customer is.",
                    NoArguments(),
                    _when_available(self._profile),
                ),
                Tool(
                    "list_orders",
                    "The signed-in customer's orders, and what of each may be refunded.",
                    NoArguments(),
                    _when_available(self._list),
                ),
                Tool("get_order", "One order of the customer.", OrderArguments(), _when_available(self._get)),
                Tool(
                    "check_refund_eligibility",
                    "Ask the policy whether an amount of an order may be refunded. Moves nothing.",
                    EligibilityArguments(),
                    _when_available(self._check),
                ),
                Tool(
                    "issue_refund",
                    "Refund an amount of one order to the customer. Moves money; at most once a request.",
                    IssueRefundArguments(),
                    _when_available(self._issue),
                ),
                Tool(
                    "escalate_to_human",
                    "Hand the conversation to a colleague. From then on a person answers.",
                    EscalateArguments(),
                    self._escalate,
                ),
            ]
        )

    def _profile(self, turn: Turn, _call: CallPosition, _: dict[str, Any]) -> Answer:
        profile = self._orders.profile(turn.user_id)
        return error("no profile was found") if profile is None else {"name": profile.name}

    def _list(self, turn: Turn, _call: CallPosition, _: dict[str, Any]) -> Answer:
        judged = self._eligibility.judged_orders(turn.user_id, limit=MAX_LISTED_ORDERS)
        return {"orders": [_listed(order) for order in judged]}

    def _get(self, turn: Turn, _call: CallPosition, asked: dict[str, Any]) -> Answer:
        order = self._orders.find(turn.user_id, asked["order_id"])
        return error("order not found") if order is None else _shown(order)

    def _check(self, turn: Turn, call: CallPosition, asked: dict[str, Any]) -> Answer:
        decision = self._eligibility.decide(turn.user_id, asked["order_id"], asked["amount_cents"])
        self._note_decision(turn, call, decision)
        verdict = {Approved: "approved", Denied: "denied", Escalated: "needs_approval"}[type(decision)]
        rule = {} if isinstance(decision, Approved) else {"rule": decision.rule}
        return {"decision": verdict, **rule, "because": say(decision), "policy": decision.version}

    def _issue(self, turn: Turn, call: CallPosition, asked: dict[str, Any]) -> Answer | Superseded:
        order_id, amount_cents = asked["order_id"], asked["amount_cents"]
        if not turn.refund_attempted and self._is_with_a_person(turn):
            return error("not sent: a colleague has this conversation now and will decide")
        return self._refunds.issue(
            turn,
            call=call,
            order_id=order_id,
            amount_cents=amount_cents,
            make_check=lambda: self._eligibility.make_claim_check(turn.user_id, order_id, amount_cents),
            refused=lambda decision: self._refused(turn, order_id, decision),
        )

    def _refused(self, turn: Turn, order_id: str, decision: Refusal) -> Answer:
        """A denial is told; what needs a person becomes an approval, by code and not by the model."""
        if isinstance(decision, Denied):
            return error(f"not sent: {say(decision)}")
        approval = self._approvals.request(
            NewApproval(
                turn_id=turn.id,
                conversation_id=turn.conversation_id,
                customer_id=turn.user_id,
                order_id=order_id,
                amount_cents=decision.amount_cents,
                reason=say(decision),
                policy_version=decision.version,
                expiry_days=self._eligibility.rules.approval_expiry_days,
            )
        )
        if approval.state != "pending":  # asked before a crash, and decided meanwhile
            return error(f"not sent by you: a colleague has decided about it; it was {approval.state}")
        return {
            "decision": "needs_approval",
            "because": say(decision),
            "waiting_for_approval_cents": approval.amount_cents,
        }

    def _is_with_a_person(self, turn: Turn) -> bool:
        found = self._conversations.find(turn.conversation_id, customer_id=turn.user_id)
        return found is not None and found.owner == "person"

    def _escalate(self, turn: Turn, _call: CallPosition, asked: dict[str, Any]) -> Answer | Superseded:
        """The customer reads the model's reason too, so it may claim no more than a reply."""
        about = without_claims(asked.get("order_id", ""))
        entry = Entry("hand_off", "agent", _handed_over(about, without_claims(asked["reason"])))
        if not self._conversations.escalate(turn, entry):
            return Superseded()
        return {"handed_over": True, "tell_the_customer": "a colleague will answer in this conversation"}


def _handed_over(order: str, why: str) -> str:
    """Say that a person answers now; what is not known, or was taken out, is empty."""
    if order:
        told = HANDED_OVER_ABOUT_BECAUSE if why else HANDED_OVER_ABOUT
    else:
        told = HANDED_OVER_BECAUSE if why else HANDED_OVER
    return told.say(order=order, why=why)


def _when_available(run: Callable[[Turn, CallPosition, dict[str, Any]], Answer | Superseded]) -> Any:  # noqa: ANN401 - a `Run`
    """Let orders that cannot be asked become the tool's error: never "eligible", never a refund."""

    def guarded(turn: Turn, call: CallPosition, asked: dict[str, Any]) -> Answer | Superseded:
        try:
            return run(turn, call, asked)
        except OrdersUnavailable:
            return error(UNAVAILABLE)

    return guarded


def _listed(judged: JudgedOrder) -> Mapping[str, object]:
    return {
        **_shown(judged.order),
        "refundable": write_cents(judged.refundable_cents, judged.order.currency),
        "policy_says": say(judged.decision),
    }


def _shown(order: Order) -> Mapping[str, object]:
    return {
        "order_id": order.id,
        "title": order.title,
        "status": order.status,
        "delivered_on": None if order.delivered_on is None else order.delivered_on.isoformat(),
        "paid": write_cents(order.paid_cents, order.currency),
        "paid_cents": order.paid_cents,
    }
