"""What the support agent's routes answer, for the API document. What they are asked is in `schemas`."""

from typing import Any, Final, get_args

from marshmallow import Schema, fields, validate

from refund_agent.approvals import ApprovalState
from refund_agent.conversations import EntryKind, Owner
from refund_agent.orders import OrderStatus
from web.schemas import RefundView

_AT_MS: Final = {"description": "Milliseconds since 1970, of database time."}


# --- Conversations --------------------------------------------------------------------------------


class ConversationView(Schema):
    """A conversation. `owner` is `person` while the agent is silent in it."""

    conversation_id = fields.String(required=True)
    owner = fields.String(required=True, validate=validate.OneOf(get_args(Owner)))
    created_at_ms = fields.Integer(required=True, metadata=_AT_MS)
    updated_at_ms = fields.Integer(required=True, metadata=_AT_MS)


class ConversationPage(Schema):
    """A customer's own conversations, newest first."""

    conversations: fields.List[Any] = fields.List(fields.Nested(ConversationView), required=True)
    next = fields.String(
        required=True, allow_none=True, metadata={"description": "`after` of the next page, if there is one."}
    )


class MessageView(Schema):
    """One line of a conversation."""

    at_ms = fields.Integer(required=True, metadata=_AT_MS)
    speaker = fields.String(required=True, validate=validate.OneOf(["customer", "agent", "staff", "system"]))
    kind = fields.String(
        required=True, validate=validate.OneOf([*get_args(EntryKind), "reply", "unanswered"])
    )
    text = fields.String(required=True)
    words = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The text without the line about the refund; null where `refund` is null."},
    )
    turn_id = fields.String(required=True, allow_none=True)
    refund = fields.Nested(RefundView, required=True, allow_none=True)


class ConversationMessages(ConversationView):
    """A conversation with what was said in it: of a long one, the newest 500 turns and entries."""

    messages: fields.List[Any] = fields.List(fields.Nested(MessageView), required=True)


# --- Orders ---------------------------------------------------------------------------------------


class DecisionView(Schema):
    """What the policy says of a refund of all that is left."""

    rule = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The rule that objects; null when none does."},
    )
    because = fields.String(required=True)
    policy = fields.String(required=True, metadata={"description": "The policy's version."})


class OrderView(Schema):
    """One of the customer's orders, judged. Amounts are whole hundredths of the currency."""

    order_id = fields.String(required=True)
    title = fields.String(required=True)
    status = fields.String(required=True, validate=validate.OneOf(get_args(OrderStatus)))
    delivered_on = fields.Date(required=True, allow_none=True)
    currency = fields.String(required=True)
    paid_cents = fields.Integer(required=True)
    refundable_cents = fields.Integer(required=True)
    decision = fields.Nested(DecisionView, required=True)


class OrderList(Schema):
    """The customer's orders."""

    orders: fields.List[Any] = fields.List(fields.Nested(OrderView), required=True)


# --- Approvals ------------------------------------------------------------------------------------


class ApprovalView(Schema):
    """A refund that waits for a person, or that one has decided about."""

    approval_id = fields.String(required=True)
    state = fields.String(required=True, validate=validate.OneOf(get_args(ApprovalState)))
    conversation_id = fields.String(required=True)
    customer_id = fields.String(required=True)
    order_id = fields.String(required=True)
    amount_cents = fields.Integer(required=True)
    reason = fields.String(required=True, metadata={"description": "Why the policy asks for a person."})
    policy_version = fields.String(required=True)
    requested_at_ms = fields.Integer(required=True, metadata=_AT_MS)
    expires_at_ms = fields.Integer(required=True, metadata=_AT_MS)
    decided_by = fields.String(required=True, allow_none=True)
    decision_note = fields.String(required=True, allow_none=True)


class ApprovalList(Schema):
    """Approvals in one state, oldest first, at most 100."""

    approvals: fields.List[Any] = fields.List(fields.Nested(ApprovalView), required=True)


class DecidedApproval(ApprovalView):
    """The decision is saved. Nothing has been sent by saving it."""

    refund_turn_id = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The turn that sends it; null when declined."},
    )
