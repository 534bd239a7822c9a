"""The shapes that cross the wire. They validate the request, and the API document is made from them."""

import unicodedata
from typing import Any, Final

from marshmallow import INCLUDE, RAISE, Schema, ValidationError, fields, validate

from refund_agent import strict_json

MAX_MESSAGE_LENGTH: Final = 4000
MAX_USER_ID_LENGTH: Final = 255

_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
_INVISIBLE_LETTERS: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
)
"""Characters that Unicode calls letters, marks or symbols, and that no reader can see."""


_FIELD_MESSAGES: dict[str, Any] = {"required": "is missing", "null": "must not be null"}
_BODY_MESSAGES = {"type": "must be a JSON object", "unknown": "is not a field of this request"}


class Text(fields.String):
    """A string that a person can see something of. Taken exactly as it stands: never trimmed or folded."""

    def _deserialize(self, value: object, *_: object, **__: object) -> str:
        if not isinstance(value, str):
            raise ValidationError("must be a string")
        if unsafe := strict_json.unsafe_character(value):
            raise ValidationError(f"must not contain {unsafe}")
        if not value:
            raise ValidationError("must not be empty")
        if all(_is_invisible(character) for character in value):
            raise ValidationError("must not be blank")
        return value


class UserId(Text):
    """A text that fits on one line of a log."""

    def _deserialize(self, value: object, *_: object, **__: object) -> str:
        text = super()._deserialize(value)
        if any(unicodedata.category(character) in {"Cc", "Zl", "Zp"} for character in text):
            raise ValidationError("must not contain control characters")
        return text


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in _INVISIBLE_CATEGORIES or character in _INVISIBLE_LETTERS


def _length(maximum: int) -> validate.Length:
    return validate.Length(min=1, max=maximum, error=f"must have 1 to {maximum} characters")


_WORDS: Final = {
    "description": "The reply without the line about the refund, for whoever shows `refund` beside it; null "
    "where `refund` is null."
}


class RefundChatRequest(Schema):
    """A customer's message. No other fields."""

    class Meta:
        """Refuse fields that are not declared."""

        unknown = RAISE

    error_messages = _BODY_MESSAGES

    user_id = UserId(
        required=True,
        error_messages=_FIELD_MESSAGES,
        validate=_length(MAX_USER_ID_LENGTH),
        metadata={
            "description": "The customer. Not blank, no control characters. Lengths are code points.",
            "example": "customer-17",
        },
    )
    message = Text(
        required=True,
        error_messages=_FIELD_MESSAGES,
        validate=_length(MAX_MESSAGE_LENGTH),
        metadata={
            "description": "What the customer wrote. Not blank. Lengths are code points.",
            "example": "Please refund 49.99 for order ORD-1001.",
        },
    )


class RefundChatReply(Schema):
    """The assistant's final text, and nothing else."""

    reply = fields.String(
        required=True,
        metadata={"description": "May be empty.", "example": "49.99 for ORD-1001 is on its way."},
    )


class SupportChatRequest(Schema):
    """A signed-in customer's message. Who they are comes from the token."""

    class Meta:
        """Refuse fields that are not declared."""

        unknown = RAISE

    error_messages = _BODY_MESSAGES

    message = Text(required=True, error_messages=_FIELD_MESSAGES, validate=_length(MAX_MESSAGE_LENGTH))
    conversation_id = fields.UUID(metadata={"description": "Absent: a new conversation is begun."})


class SupportChatReply(Schema):
    """The agent's reply. `owner` is `person` while the agent is silent."""

    reply = fields.String(required=True)
    words = fields.String(required=True, allow_none=True, metadata=_WORDS)
    conversation_id = fields.String(required=True)
    turn_id = fields.String(required=True, allow_none=True)
    refund = fields.Nested("RefundView", required=True, allow_none=True)
    owner = fields.String(required=True, validate=validate.OneOf(["agent", "person"]))


class StaffMessage(Schema):
    """What a person writes in a conversation."""

    class Meta:
        """Refuse fields that are not declared."""

        unknown = RAISE

    error_messages = _BODY_MESSAGES

    text = Text(required=True, error_messages=_FIELD_MESSAGES, validate=_length(MAX_MESSAGE_LENGTH))


class ApprovalDecision(Schema):
    """A person's decision about a refund, and why."""

    class Meta:
        """Refuse fields that are not declared."""

        unknown = RAISE

    error_messages = _BODY_MESSAGES

    decision = fields.String(required=True, validate=validate.OneOf(["approve", "decline"]))
    reason = Text(required=True, error_messages=_FIELD_MESSAGES, validate=_length(MAX_MESSAGE_LENGTH))


class RefundView(Schema):
    """An attempted refund. `unknown`: payments was asked, no clear answer came: money may have moved."""

    state = fields.String(required=True, validate=validate.OneOf(["paid", "rejected", "not_sent", "unknown"]))
    order_id = fields.String(metadata={"description": "Absent when not even this can be known."})
    amount_cents = fields.Integer(metadata={"description": "Absent when not even this can be known."})
    refund_id = fields.String(metadata={"description": "The receipt's; only when `paid`."})


class Used(Schema):
    """How much of a limit is used."""

    used = fields.Integer(required=True)
    limit = fields.Integer(required=True)


class TurnView(Schema):
    """Where a turn stands."""

    turn_id = fields.String(required=True)
    state = fields.String(required=True, validate=validate.OneOf(["queued", "running", "done", "failed"]))
    completions = fields.Nested(Used, required=True)
    attempts = fields.Nested(Used, required=True)
    reply = fields.String(required=True, allow_none=True, metadata={"description": "Only when `done`."})
    words = fields.String(
        allow_none=True,
        metadata={"description": f"Only of turns of the support agent. {_WORDS['description']}"},
    )
    problem = fields.Dict(
        required=True,
        allow_none=True,
        metadata={"description": "Only when `failed`: the problem that a waiting caller was answered with."},
    )
    refund = fields.Nested(RefundView, required=True, allow_none=True)


class Accepted(Schema):
    """The turn is on its way: see `Location`."""

    turn_id = fields.String(required=True)


class FieldError(Schema):
    """One thing that is wrong with the body."""

    pointer = fields.String(required=True, metadata={"description": "RFC 6901, as a URI fragment."})
    detail = fields.String(required=True)


class ProblemDocument(Schema):
    """An RFC 9457 problem."""

    class Meta:
        """A problem may have further members; readers ignore those they do not know."""

        unknown = INCLUDE

    type = fields.String(required=True, metadata={"description": "A URN; see the table of problems."})
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    detail = fields.String(
        required=True, metadata={"description": "What happened, what did not, and what to do. For people."}
    )
    turn_id = fields.String(required=True, allow_none=True, metadata={"description": "Also in `X-Turn-Id`."})
    refund = fields.Nested(
        RefundView,
        required=True,
        allow_none=True,
        metadata={"description": "Null: no refund was sent for this request and none ever will be."},
    )
    errors: fields.List[Any] = fields.List(
        fields.Nested(FieldError), metadata={"description": "Only with status 422."}
    )
