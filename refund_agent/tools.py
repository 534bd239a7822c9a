"""Tools, and the toolbox that validates a call's arguments before the tool runs.

A mistake of the model becomes that call's result, `{"error": ...}`; nothing is raised to the caller.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, cast

from marshmallow import RAISE, Schema, ValidationError, fields

from refund_agent import strict_json
from refund_agent.outcomes import CallPosition, Superseded
from refund_agent.plain_text import has_unseen_characters
from refund_agent.ports import ToolDeclaration
from refund_agent.turn import MAX_ARGUMENTS_BYTES, ToolCall, ToolResult, Turn

MAX_ORDER_ID_LENGTH = 128
MAX_ERROR_LENGTH = 300

Answer: TypeAlias = Mapping[str, object]
"""What a tool tells the model: a JSON object, `{"error": ...}` when it did not work."""

Run: TypeAlias = Callable[[Turn, CallPosition, dict[str, Any]], Answer | Superseded]


class OrderId(fields.Field[str]):
    """An order id, taken exactly as it stands: never trimmed, folded or interpreted."""

    declared: ClassVar[dict[str, object]] = {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_ORDER_ID_LENGTH,
        "description": "The order's id exactly as the customer wrote it, for example ORD-1001.",
    }

    def _deserialize(self, value: object, *_: object, **__: object) -> str:
        if not isinstance(value, str):
            raise ValidationError("must be a string")
        if not value.strip():
            raise ValidationError("must not be empty")
        if len(value) > MAX_ORDER_ID_LENGTH:
            raise ValidationError(f"must be at most {MAX_ORDER_ID_LENGTH} characters")
        if has_unseen_characters(value):
            raise ValidationError("must not contain control or invisible characters")
        return value


class AmountCents(fields.Field[int]):
    """A positive whole number of cents; a bool or a float with no fraction is not one."""

    declared: ClassVar[dict[str, object]] = {
        "type": "integer",
        "minimum": 1,
        "description": "The amount in cents: 49.99 is 4999.",
    }

    def _deserialize(self, value: object, *_: object, **__: object) -> int:
        if type(value) is not int:
            raise ValidationError("must be a whole number of cents")
        if value < 1:
            raise ValidationError("must be positive")
        return value


class IssueRefundArguments(Schema):
    """The declared shape of `issue_refund`: two arguments, both required, nothing else."""

    class Meta:
        """Refuse keys that are not declared."""

        unknown = RAISE

    order_id = OrderId(required=True)
    amount_cents = AmountCents(required=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """A name the model may call, the shape of its arguments, and what runs once they are valid."""

    name: str
    description: str
    arguments: Schema
    run: Run

    def declaration(self) -> ToolDeclaration:
        """Render the tool as the model sees it, from the same schema that validates its calls."""
        arguments = cast("dict[str, OrderId | AmountCents]", self.arguments.fields)
        parameters: dict[str, object] = {
            "type": "object",
            "properties": {name: argument.declared for name, argument in arguments.items()},
            "required": [name for name, argument in arguments.items() if argument.required],
            "additionalProperties": False,
        }
        return ToolDeclaration(self.name, self.description, parameters)


class Toolbox:
    """The tools of one agent."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.declarations = [tool.declaration() for tool in tools]

    def answer(self, turn: Turn, position: CallPosition, call: ToolCall) -> ToolResult | Superseded:
        """Validate one call, run its tool, and return the result under the call's own id."""
        answer = self._answer(turn, position, call)
        return answer if isinstance(answer, Superseded) else tool_result(call, answer)

    def _answer(self, turn: Turn, position: CallPosition, call: ToolCall) -> Answer | Superseded:
        if call.problem:
            return error(call.problem)
        tool = self._tools.get(call.name)
        if tool is None:
            return error(f"there is no tool {call.name!r}")
        try:
            given = strict_json.parse(call.arguments, max_bytes=MAX_ARGUMENTS_BYTES)
        except strict_json.NotJson as reason:
            return error(f"arguments are not valid JSON: {reason}")
        if not isinstance(given, dict):
            return error("arguments must be a JSON object")
        try:
            arguments = cast("dict[str, Any]", tool.arguments.load(cast("dict[str, Any]", given)))
            _refuse_unsafe_texts(arguments)
        except ValidationError as invalid:
            return error(f"invalid arguments: {json.dumps(invalid.messages_dict, sort_keys=True)}")
        return tool.run(turn, position, arguments)


def _refuse_unsafe_texts(arguments: Mapping[str, object]) -> None:
    """Raise `ValidationError` for a text that no store could keep, whatever its field allows."""
    for name, value in arguments.items():
        if isinstance(value, str) and (unsafe := strict_json.unsafe_character(value)):
            raise ValidationError({name: [f"must not contain {unsafe}"]})


def error(text: str) -> Answer:
    """Say why a call did not work, short enough to echo safely."""
    return {"error": text[:MAX_ERROR_LENGTH]}


def tool_result(call: ToolCall, answer: Answer) -> ToolResult:
    """Put an answer under its call's own id."""
    return ToolResult(call.id, json.dumps(answer))
