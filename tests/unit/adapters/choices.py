"""Completions put together by hand, in any shape, and read without a network."""

import json
from typing import Any

from refund_agent.adapters.completion_answer import read_completion
from refund_agent.ports import Completed
from refund_agent.turn import ToolCall

GOOD = {"order_id": "A1", "amount_cents": 500}


def read(message: object, **choice: object) -> Completed:
    """Read a completion with one choice, which must be one."""
    body = {"choices": [{"message": message, "finish_reason": "stop"} | choice]}
    answer = read_completion(json.dumps(body).encode())
    assert isinstance(answer, Completed)
    return answer


def read_calls(*calls: object) -> tuple[ToolCall, ...]:
    return read({"content": None, "tool_calls": list(calls)}).message.tool_calls


def call(**changes: object) -> dict[str, Any]:
    function = {"name": "issue_refund", "arguments": json.dumps(GOOD)}
    return {"id": "call_a", "type": "function", "function": function} | changes


def function(**changes: object) -> dict[str, Any]:
    return call(function={"name": "issue_refund", "arguments": json.dumps(GOOD)} | changes)
