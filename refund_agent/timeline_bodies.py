"""Bodies of events as steps.

They are ours, but perhaps of an older version, or cut: what is not as expected is left out, nothing raises.
"""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from refund_agent.journal import Event
from refund_agent.turn import AssistantMessage, Message, ToolCall, ToolResult
from refund_agent.turn_steps import (
    ClaimTried,
    Completion,
    Corrected,
    Flagged,
    HandedOff,
    Judged,
    Noted,
    RuleFinding,
    ToolUse,
    What,
)

MAX_DIGITS: Final = 15


def read_completion(body: Mapping[str, object], *, attempt: int) -> Completion:
    """Read what a completion said; a provider that tells no tokens leaves them unknown."""
    return Completion(
        number=whole(body, "completion") or 0,
        attempt=attempt,
        text=text(body, "text"),
        calls=tuple(str(name) for name in _list(body.get("calls"))),
        truncated=body.get("truncated") is True,
        problem=text(body, "reason") or text(body, "problem"),
        timed_out=text(body, "problem") == "timed out",
        model=text(body, "model"),
        tokens=whole(body, "tokens") or None,
        read_tokens=whole(body, "read_tokens") or None,
        cost_microdollars=whole(body, "cost_microdollars"),
    )


def read_moment(event: Event) -> What:
    """Read an event that has no length."""
    body = event.body
    match event.kind:
        case "policy":
            return _judged(body)
        case "flag":
            return Flagged(text(body, "kind"), text(body, "excerpt"))
        case "correction":
            return Corrected(text(body, "taken_out"))
        case "hand_off":
            return HandedOff()
        case _:
            return Noted(event.kind)


def read_tool_use(body: Mapping[str, object]) -> ToolUse:
    """Read a tool call; its answer is not in it."""
    return ToolUse(text(body, "call"), text(body, "tool"), text(body, "arguments"))


def read_claim(body: Mapping[str, object]) -> ClaimTried:
    """Read what became of a claim."""
    return ClaimTried(
        call=text(body, "call"),
        order_id=text(body, "order_id"),
        amount_cents=whole(body, "amount_cents") or 0,
        answer=text(body, "answer"),
    )


def _judged(body: Mapping[str, object]) -> Judged:
    """Read any form: of a claim's check, of a tool that merely asks, and of that as it was told before."""
    return Judged(
        call=text(body, "call"),
        decision=text(body, "decision"),
        version=text(body, "version") or text(body, "policy"),
        rule=text(body, "rule"),
        because=text(body, "because"),
        findings=tuple(_finding(found) for found in _list(body.get("rules") or body.get("findings"))),
    )


def _finding(found: object) -> RuleFinding:
    told = _object(found)
    facts = _object(told.get("facts")).items()
    return RuleFinding(
        text(told, "rule"),
        text(told, "verdict"),
        tuple((name, "" if value is None else str(value)) for name, value in facts),
    )


def answered_calls(messages: Sequence[Message]) -> list[ToolUse]:
    """Return the calls of a transcript that have an answer, with the position that events name them by."""
    uses: list[ToolUse] = []
    number, index = 0, 0
    calls: tuple[ToolCall, ...] = ()
    for message in messages:
        if isinstance(message, AssistantMessage):
            number, calls, index = number + 1, message.tool_calls, 0
        elif isinstance(message, ToolResult) and index < len(calls):
            call = calls[index]
            ok = not message.content.startswith('{"error"')
            uses.append(ToolUse(f"{number}.{index}", call.name, call.arguments, message.content, ok=ok))
            index += 1
    return uses


def text(body: Mapping[str, object], name: str) -> str:
    """Read a member that is text; empty when it is none."""
    value = body.get(name)
    return value if isinstance(value, str) else ""


def whole(body: Mapping[str, object], name: str) -> int | None:
    """Read a member that is a number, perhaps written as text; None when it is none, or is not there."""
    value = body.get(name)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _object(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}
