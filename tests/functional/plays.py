"""The model stand-in's answers with a twist, and what its requests said."""

import json
import threading
from collections.abc import Callable
from typing import Any, Self

from sandbox.answers import Answer, Delayed, Reply
from sandbox.completions import Play, says
from sandbox.conversation import Conversation
from sandbox.model import CompletionRequest

HOLD_SECONDS = 40.0


def watched(look: Callable[[], object], play: Play) -> Play:
    """Look at something in the moment when a completion's request has arrived, then answer it."""

    def answer(conversation: Conversation) -> Answer:
        look()
        return play(conversation)

    return answer


def slowly(play: Play, seconds: float) -> Play:
    """Answer a completion some seconds later."""

    def answer(conversation: Conversation) -> Answer:
        made = play(conversation)
        assert isinstance(made, Reply)
        return Delayed(seconds, made)

    return answer


class Hold:
    """Keeps completions waiting until it is let go, which a test does by leaving it."""

    def __init__(self) -> None:
        self._let_go = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go()

    def let_go(self) -> None:
        self._let_go.set()

    def on(self, play: Play) -> Play:
        """Answer a completion in this way once it is let go."""
        return watched(lambda: self._let_go.wait(HOLD_SECONDS), play)


def echo(conversation: Conversation) -> Answer:
    """Say what the customer said."""
    return says(conversation.messages[-1]["content"])(conversation)


def tool_results(asked: CompletionRequest) -> list[tuple[str, dict[str, Any]]]:
    """Return the tool messages of a completion request in order: call id, content read as JSON."""
    return [
        (m["tool_call_id"], json.loads(m["content"])) for m in asked.body["messages"] if m["role"] == "tool"
    ]


def calls_of(asked: CompletionRequest) -> list[list[str]]:
    """Return the ids of the calls of each assistant message of a completion request."""
    return [
        [call["id"] for call in m.get("tool_calls", ())]
        for m in asked.body["messages"]
        if m["role"] == "assistant"
    ]
