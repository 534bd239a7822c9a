"""The loop itself, as anybody would write it: completion, tool calls, completion. No guard of any kind."""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import httpx
import openai
import requests

MODEL = "gpt-4o-mini-2024-07-18"
MAX_COMPLETIONS = 5
RULES = "You are a support agent. Refund what the customer asks for, at most once, then say what you did."
TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "issue_refund",
            "description": "Refund an amount of one order to the customer.",
            "parameters": {
                "type": "object",
                "properties": {"order_id": {"type": "string"}, "amount_cents": {"type": "integer"}},
                "required": ["order_id", "amount_cents"],
                "additionalProperties": False,
            },
        },
    }
]

Complete: TypeAlias = Callable[[list[Any]], Any]
"""Makes one completion of these messages; returns its message as a dict."""

Refund: TypeAlias = Callable[[Any], Any]
"""Asks payments for one refund; returns its answer's JSON."""


def run_turn(text: str, *, complete: Complete, refund: Refund) -> str:
    """Run one turn; return the assistant's last text."""
    messages: list[Any] = [{"role": "system", "content": RULES}, {"role": "user", "content": text}]
    for _ in range(MAX_COMPLETIONS):
        said = complete(messages)
        if not said.get("tool_calls"):
            return str(said["content"])
        messages.append(said)
        for call in said["tool_calls"]:
            receipt = refund(json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(receipt)})
    raise AssertionError("five completions and no reply")


def documented_calls(base_url: str, payments_url: str) -> tuple[Complete, Refund]:
    """Call both libraries as their documentation does: what most people would write."""
    client = _open_client(base_url)

    def complete(messages: list[Any]) -> Any:
        answer = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS, timeout=20.0)
        return answer.choices[0].message.model_dump(exclude_none=True)

    def refund(asked: Any) -> Any:
        return requests.post(f"{payments_url}/refunds", json=asked, timeout=10.0).json()  # noqa: TID251 - as most would

    return complete, refund


def cheapest_calls(base_url: str, payments_url: str) -> tuple[Complete, Refund]:
    """Call both libraries as the service does: nothing is typed, and the environment is not asked."""
    client = _open_client(base_url)

    def complete(messages: list[Any]) -> Any:
        asked = {"model": MODEL, "messages": messages, "tools": TOOLS}
        answer = client.post(
            "/chat/completions", body=asked, cast_to=httpx.Response, options={"timeout": 20.0}
        )
        return json.loads(answer.content)["choices"][0]["message"]

    def refund(asked: Any) -> Any:
        with requests.Session() as session:
            session.trust_env = False
            return session.post(f"{payments_url}/refunds", json=asked, timeout=10.0).json()

    return complete, refund


def _open_client(base_url: str) -> openai.OpenAI:
    return openai.OpenAI(api_key="none", base_url=base_url, max_retries=0)
