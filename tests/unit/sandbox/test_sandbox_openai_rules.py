"""What OpenAI refuses in a history, the stand-in refuses too, with the same words and param."""

from typing import Any

import pytest

from sandbox.openai_rules import objection

USER = {"role": "user", "content": "refund A1"}
TOOL = {"type": "function", "function": {"name": "issue_refund", "parameters": {"type": "object"}}}


def call(call_id: str = "call_1", **changes: Any) -> dict[str, Any]:
    call = {"id": call_id, "type": "function", "function": {"name": "issue_refund", "arguments": "{}"}}
    return call | changes


def asked(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def answered(call_id: str = "call_1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "{}"}


def body(*messages: Any, **changes: Any) -> dict[str, Any]:
    return {"model": "gpt-4o-mini-2024-07-18", "messages": list(messages), "tools": [TOOL]} | changes


SAID = {"role": "assistant", "content": "ok"}
GOOD: dict[str, dict[str, Any]] = {
    "a question": body(USER),
    "a call and its result": body(USER, asked(call()), answered()),
    "two calls and both results": body(
        USER, asked(call("a"), call("b")), answered("a"), answered("b"), SAID, USER
    ),
    "results in another order": body(USER, asked(call("a"), call("b")), answered("b"), answered("a")),
    "the same id in a later round": body(USER, asked(call()), answered(), asked(call()), answered()),
    "text beside a call": body(USER, asked(call()) | {"content": "One moment."}, answered()),
    "content in parts": body({"role": "user", "content": [{"type": "text", "text": "hi"}]}),
    "no tools": {"model": "m", "messages": [USER]},
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_request_is_accepted(name: str) -> None:
    assert objection(GOOD[name]) is None


FOLLOWED = "must be followed by tool messages"
PRECEDING = "must be a response to a preceeding message"
BAD: dict[str, tuple[Any, str, str | None]] = {
    "not an object": ([], "could not parse", None),
    "no model": ({"messages": [USER]}, "model parameter", None),
    "a stream": (body(USER, stream=True), "does not stream", "stream"),
    "no messages": ({"model": "m"}, "Missing required parameter", "messages"),
    "empty messages": (body(), "empty array", "messages"),
    "a call without its result": (body(USER, asked(call())), FOLLOWED, "messages.[2].role"),
    "one of two results": (
        body(USER, asked(call("a"), call("b")), answered("a"), USER),
        "response messages: b",
        "messages.[3].role",
    ),
    "the user speaks before the result": (
        body(USER, asked(call()), USER, answered()),
        FOLLOWED,
        "messages.[2].role",
    ),
    "a result without a call": (body(USER, answered()), PRECEDING, "messages.[1].role"),
    "a result after a text": (
        body(USER, asked(call()), answered(), SAID, answered()),
        PRECEDING,
        "messages.[4].role",
    ),
    "a result of another call": (
        body(USER, asked(call("a")), answered("b")),
        "not found in 'tool_calls'",
        "messages.[2].tool_call_id",
    ),
    "a result given twice": (
        body(USER, asked(call()), answered(), answered()),
        "Duplicate value for 'tool_call_id'",
        "messages.[3].tool_call_id",
    ),
    "two calls with one id": (
        body(USER, asked(call(), call()), answered(), answered()),
        "Duplicate value",
        "messages.[3].tool_call_id",
    ),
    "no calls in tool_calls": (body(USER, asked()), "empty array", "messages[1].tool_calls"),
    "arguments as an object": (
        body(USER, asked(call(function={"name": "issue_refund", "arguments": {}})), answered()),
        "expected a string, but got an object",
        "messages[1].tool_calls[0].function.arguments",
    ),
    "arguments null": (
        body(USER, asked(call(function={"name": "issue_refund", "arguments": None})), answered()),
        "expected a string, but got null",
        "messages[1].tool_calls[0].function.arguments",
    ),
    "a name with a space": (
        body(USER, asked(call(function={"name": "issue refund", "arguments": "{}"})), answered()),
        "matches the pattern",
        "messages[1].tool_calls[0].function.name",
    ),
    "function null": (
        body(USER, asked(call(function=None)), answered()),
        "expected an object",
        "messages[1].tool_calls[0].function",
    ),
    "an id of 41 characters": (
        body(USER, asked(call("x" * 41)), answered("x" * 41)),
        "string too long",
        "messages[1].tool_calls[0].id",
    ),
    "an id null": (
        body(USER, asked(call(id=None)), answered()),
        "expected a string, but got null",
        "messages[1].tool_calls[0].id",
    ),
    "a call of type custom": (
        body(USER, asked(call(type="custom")), answered()),
        "Supported values are: 'function'",
        "messages[1].tool_calls[0].type",
    ),
    "a user without content": (
        body({"role": "user", "content": None}),
        "expected a string, got null",
        "messages[0].content",
    ),
    "an assistant with neither content nor calls": (
        body(USER, {"role": "assistant", "content": None}),
        "got null",
        "messages[1].content",
    ),
    "an unknown role": (body({"role": "robot", "content": "x"}), "Supported values", "messages[0].role"),
    "empty tools": (body(USER, tools=[]), "empty array", "tools"),
    "a tool choice without tools": (
        {"model": "m", "messages": [USER], "tool_choice": "auto"},
        "only allowed when 'tools' are specified",
        "tool_choice",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_request_is_refused(name: str) -> None:
    wrong, words, param = BAD[name]
    refused = objection(wrong)
    assert refused is not None
    assert words in refused.message
    assert refused.param == param
