"""Bodies of an HTTP 200 from a model's provider, in every shape that was ever seen, and some more."""

import json
import random
from typing import Any

from tests.simulation.hostile_calls import OTHER_NAMES, Calls

NOT_COMPLETIONS = (
    *(
        b"",
        b"null",
        b"[1]",
        b'"hi"',
        b"7",
        b"{",
        b"<html>busy</html>",
        b"\xff\xfe",
        b"[" * 3000,
        b"{}",
        b"NaN",
    ),
    *(
        b'{"choices": null}',
        b'{"choices": []}',
        b'{"choices": [null]}',
        b'{"choices": {"0": {}}}',
        b'{"choices": [7]}',
    ),
    *(b'{"choices": [{}]}', b'{"choices": [{"message": null}]}', b'{"choices": [{"message": "hi"}]}'),
    *(b'{"choices": [{"message": {"content": 7}}]}', b'{"choices": [{"message": {"content": ["x"]}}]}'),
    *(
        b'{"error": {"message": "overloaded"}}',
        b'{"error": "x", "choices": [{"message": {"content": "hi"}}]}',
    ),
    *(b'{"choices": [{"message": {"content": "", "tool_calls": {"0": 1}}}]}', b'{"choices": 1e400}'),
)
NO_COMPLETIONS = frozenset({"no completion at all", "33 calls"})
"""Kinds of bodies that must be refused; what else there is is read, as far as it goes."""
ENDINGS = ("stop", "tool_calls", "content_filter", "length", "function_call", None, 7, "banana")
TEXTS = ("", "Done.", "a\x00b", "\ud800 cut", "x" * 40_000, "naïve 😀 \u202e", None)


class Bodies:
    """Draws bodies for one episode."""

    def __init__(self, rng: random.Random, calls: Calls) -> None:
        self._rng = rng
        self._calls = calls

    def draw(self, turn_id: str, completion: int) -> tuple[str, bytes]:
        """Return a body and what kind it is."""
        rng = self._rng
        kind = rng.random()
        if kind < 0.15:
            return "no completion at all", rng.choice(NOT_COMPLETIONS)
        finish = rng.choice(ENDINGS)
        usage: Any = rng.choice((None, {}, {"completion_tokens": 12}, {"completion_tokens": True}, 7))
        used_all = rng.random() < 0.1
        if used_all:
            usage = {"completion_tokens": 1024}
        message: dict[str, Any] = {
            "role": rng.choice(("assistant", "user", None)),
            "content": rng.choice(TEXTS),
        }
        if kind < 0.4:
            return "text", self._encode(message, finish=finish, usage=usage)
        if kind < 0.45:
            arguments = self._calls.arguments(turn_id, completion, may_run=False)
            message["function_call"] = {"name": "issue_refund", "arguments": arguments}
            return "call of 2023", self._encode(message, finish=finish, usage=usage)
        if kind < 0.5:
            message["refusal"] = "I cannot help with that."
            return "refusal", self._encode(message, finish=finish, usage=usage)
        cut = finish == "length" or used_all
        many = rng.choice((0, 1, 1, 2, 3, 10, 33))
        message["tool_calls"] = [self._call(turn_id, completion, cut=cut) for _ in range(many)]
        return f"{many} calls", self._encode(message, finish=finish, usage=usage, turn_id=turn_id)

    def _call(self, turn_id: str, completion: int, *, cut: bool) -> Any:
        rng, calls = self._rng, self._calls
        call_id = rng.choice(
            (calls.call_id(), calls.call_id(), calls.call_id(), "", None, 7, "x" * 41, "\ud800")
        )
        kind = rng.random()
        if kind < 0.5:
            arguments = calls.arguments(turn_id, completion, may_run=not cut)
            shape: dict[str, Any] = {
                "id": call_id,
                "function": {"name": "issue_refund", "arguments": arguments},
            }
            if rng.random() < 0.8:
                shape["type"] = "function"
            return shape
        text = calls.arguments(turn_id, completion, may_run=False)
        broken: Any = rng.choice(
            (
                {"id": call_id, "type": "custom", "custom": {"name": "issue_refund", "input": text}},
                {"id": call_id, "type": "banana", "function": {"name": "issue_refund", "arguments": text}},
                {"id": call_id, "type": None, "function": {"name": "issue_refund", "arguments": text}},
                {"id": call_id, "type": "function", "function": None},
                {"id": call_id, "type": "function", "function": {"name": None, "arguments": text}},
                {"id": call_id, "type": "function", "function": {"name": "a b", "arguments": text}},
                {
                    "id": call_id,
                    "type": "function",
                    "function": {"name": rng.choice(OTHER_NAMES), "arguments": text},
                },
                {
                    "id": call_id,
                    "type": "function",
                    "function": {"name": "issue_refund", "arguments": json.loads(text)},
                },
                {"id": call_id, "type": "function", "function": {"name": "issue_refund", "arguments": None}},
                {"id": call_id, "type": "function", "function": {"name": "issue_refund"}},
                {"id": call_id, "function": {"name": "issue_refund", "arguments": text + " " * 5000}},
                {"id": call_id, "function": {"name": "issue_refund", "arguments": text[:-1] + "\x00}"}},
                {"id": call_id, "function": {"name": "issue_refund", "arguments": calls.bad_arguments()}},
                *(None, 7, "call", [], {}),
            )
        )
        return broken

    def _encode(self, message: dict[str, Any], *, finish: Any, usage: Any, turn_id: str = "") -> bytes:
        choices: list[Any] = [{"index": 0, "message": message, "finish_reason": finish}]
        if turn_id and self._rng.random() < 0.2:
            # A second choice that nobody asked for: what it says must not be read.
            second = {"role": "assistant", "tool_calls": [self._unread(turn_id)]}
            choices.append({"index": 1, "message": second, "finish_reason": "tool_calls"})
        return json.dumps({"id": "x", "choices": choices, "usage": usage}).encode()

    def _unread(self, turn_id: str) -> Any:
        arguments = self._calls.arguments(turn_id, 0, may_run=False)
        return {
            "id": "call_9",
            "type": "function",
            "function": {"name": "issue_refund", "arguments": arguments},
        }
