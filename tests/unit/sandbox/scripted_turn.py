"""A turn led by hand against the model stand-in, through the real SDK."""

import json
from typing import Any

import openai
import pytest

MODEL = "gpt-4o-mini-2024-07-18"
TOOL: Any = {"type": "function", "function": {"name": "issue_refund", "parameters": {"type": "object"}}}
RECEIPT = {"refund_id": "rf_1", "status": "succeeded", "amount_cents": 500}
VALID = {"order_id": "A1", "amount_cents": 500}
MAX_TOKENS = 77


class Turn:
    """Complete, answer every call with a receipt, complete again."""

    def __init__(self, sdk: openai.OpenAI, script: str) -> None:
        self._sdk = sdk
        self.messages: list[Any] = [{"role": "user", "content": f"[{script}] refund 5.00 for order A1"}]
        self.completions = 0

    def complete(self, *, timeout_seconds: float = 5) -> Any:
        self.completions += 1
        return self._sdk.chat.completions.create(
            model=MODEL,
            messages=self.messages,
            tools=[TOOL],
            max_tokens=MAX_TOKENS,
            timeout=timeout_seconds,
            extra_headers={"X-Client-Request-Id": f"turn-{self.completions}"},
        )

    def times_out(self) -> bool:
        """Complete, with little patience."""
        with pytest.raises(openai.APITimeoutError):
            self.complete(timeout_seconds=0.3)
        return True

    def calls(self) -> list[Any]:
        """Complete; keep a well-formed copy of what was asked for, and answer it with receipts."""
        asked = self.complete().choices[0].message.tool_calls or []
        ids = [f"call_{self.completions}_{i}" for i in range(len(asked))]
        function = {"name": "issue_refund", "arguments": "{}"}
        copies = [{"id": call_id, "type": "function", "function": function} for call_id in ids]
        if copies:
            self.messages.append({"role": "assistant", "content": None, "tool_calls": copies})
        receipt = json.dumps(RECEIPT)
        self.messages += [{"role": "tool", "tool_call_id": call_id, "content": receipt} for call_id in ids]
        return list(asked)


def is_valid(call: Any) -> bool:
    """Tell whether a call is a well-formed refund of A1."""
    function = getattr(call, "function", None)
    try:
        return function is not None and json.loads(function.arguments) == VALID
    except (ValueError, TypeError):
        return False
