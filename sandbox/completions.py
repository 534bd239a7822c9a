"""Answers of the model, to be put together by tests and scripts: `model.will(says("hello"))`."""

import itertools
import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from sandbox import broken
from sandbox.answers import Answer, Json, Reply, as_json
from sandbox.conversation import Conversation

Play: TypeAlias = Callable[[Conversation], Answer]
"""What one completion answers."""

CREATED = 1_721_260_800
REFUND_TOOL = "issue_refund"
NO_HEADERS: Mapping[str, str] = MappingProxyType({})

_ids = itertools.count(1)


def says(text: str | None, *, finish_reason: str = "stop", refusal: str | None = None) -> Play:
    """Answer with text and no tool call."""
    return gives({"role": "assistant", "content": text, "refusal": refusal}, finish_reason=finish_reason)


def calls_refund(order_id: str, amount_cents: int, *, id: str | None = None) -> Play:  # noqa: A002 - OpenAI's word
    """Ask for one refund."""
    return calls(refund_call(order_id, amount_cents, id=id))


def calls(*tool_calls: Json, content: str | None = None, finish_reason: str = "tool_calls") -> Play:
    """Ask for these calls in one message; make them with `refund_call`, `call`, or by hand."""
    message = {"role": "assistant", "content": content, "refusal": None, "tool_calls": list(tool_calls)}
    return gives(message, finish_reason=finish_reason)


def call(name: str, arguments: object, *, id: str | None = None) -> dict[str, Json]:  # noqa: A002 - OpenAI's word
    """Make a tool call; `arguments` that are a string are sent as they stand, however wrong."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {
        "id": id or f"call_{next(_ids):06d}",
        "type": "function",
        "function": {"name": name, "arguments": text},
    }


def refund_call(order_id: str, amount_cents: int, *, id: str | None = None) -> dict[str, Json]:  # noqa: A002 - OpenAI's word
    """Make a well-formed call of `issue_refund`."""
    return call(REFUND_TOOL, {"order_id": order_id, "amount_cents": amount_cents}, id=id)


def gives(*messages: Json, finish_reason: str = "stop") -> Play:
    """Answer with one choice a message, whatever its shape."""

    def play(conversation: Conversation) -> Answer:
        return as_json(completion(conversation, *messages, finish_reason=finish_reason))

    return play


def completion(conversation: Conversation, *messages: Json, finish_reason: str = "stop") -> dict[str, Json]:
    """Return the body of a chat completion with one choice a message."""
    used = max(1, len(json.dumps(messages)) // 4)
    if finish_reason == "length" and conversation.max_tokens:
        used = conversation.max_tokens
    return {
        "id": f"chatcmpl-{next(_ids):06d}",
        "object": "chat.completion",
        "created": CREATED,
        "model": conversation.model,
        "choices": [
            {"index": i, "message": message, "logprobs": None, "finish_reason": finish_reason}
            for i, message in enumerate(messages)
        ],
        "usage": {
            "prompt_tokens": conversation.prompt_tokens,
            "completion_tokens": used,
            "total_tokens": conversation.prompt_tokens + used,
        },
        "service_tier": "default",
        "system_fingerprint": "fp_sandbox",
    }


def raw(status: int, body: bytes | str, headers: Mapping[str, str] = NO_HEADERS) -> Play:
    """Answer with exactly this; Content-Type is JSON."""
    content = body if isinstance(body, bytes) else body.encode()
    return lambda _: Reply(status, content, headers=tuple(headers.items()))


def fails(status: int, *, type: str = "server_error", headers: Mapping[str, str] = NO_HEADERS) -> Play:  # noqa: A002 - OpenAI's word
    """Answer with OpenAI's error object."""
    return lambda _: error_reply(status, f"scripted {status}", type=type, headers=tuple(headers.items()))


def error_reply(  # noqa: PLR0913 - the fields of OpenAI's error object
    status: int,
    message: str,
    *,
    type: str = "invalid_request_error",  # noqa: A002 - OpenAI's word
    param: str | None = None,
    code: str | None = None,
    headers: tuple[tuple[str, str], ...] = (),
) -> Reply:
    """Return OpenAI's error object."""
    error = {"message": message, "type": type, "param": param, "code": code}
    return as_json({"error": error}, status, *headers)


def hangs() -> Play:
    """Never answer; ends when the client goes away or the server stops."""
    return lambda _: broken.hang


def resets() -> Play:
    """Close with a TCP reset after the request was read."""
    return lambda _: broken.reset
