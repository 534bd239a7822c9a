"""What the model stand-in knows: the request it was sent, and nothing from before."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.answers import Json, Request, is_array

_SCRIPT_TAG = re.compile(r"\s*\[([a-z0-9][a-z0-9-]*)\]\s*")
_REQUEST_ID = re.compile(r".*-([0-9]{1,2})")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A transcript, the tools on offer, and which completion of its turn this is, from 1."""

    messages: Sequence[Json]
    number: int
    model: str = "gpt-4o-mini-2024-07-18"
    tools: frozenset[str] = frozenset()
    max_tokens: int | None = None
    prompt_tokens: int = 1

    @property
    def script(self) -> str:
        """Return `name` when the customer's last message starts with `[name]`, else nothing."""
        tag = _SCRIPT_TAG.match(self._last_user_text())
        return tag[1] if tag else ""

    @property
    def rounds(self) -> int:
        """How often the model has spoken since the customer's last message."""
        return sum(message["role"] == "assistant" for message in self._since_user())

    @property
    def results(self) -> list[Json]:
        """The tool results since the customer's last message, read as JSON where they are."""
        return [_read(text_of(message)) for message in self._since_user() if message["role"] == "tool"]

    @property
    def last_call(self) -> tuple[str, Json] | None:
        """The last tool call since the customer's last message: its name, and its arguments as JSON."""
        made = [call for message in self._since_user() for call in message.get("tool_calls") or ()]
        functions = [call["function"] for call in made if call.get("type") == "function"]
        return (functions[-1]["name"], _read(functions[-1]["arguments"])) if functions else None

    @property
    def wishes(self) -> list[str]:
        """What the customer said since the last tool result, newest first, without script tags."""
        found: list[str] = []
        for message in reversed(self.messages):
            if message["role"] == "tool":
                break
            if message["role"] == "user":
                found.append(_SCRIPT_TAG.sub("", text_of(message), count=1))
        return found

    def _since_user(self) -> Sequence[Json]:
        roles = [message["role"] for message in self.messages]
        last = len(roles) - 1 - roles[::-1].index("user") if "user" in roles else -1
        return self.messages[last + 1 :]

    def _last_user_text(self) -> str:
        return next((text_of(m) for m in reversed(self.messages) if m["role"] == "user"), "")


def read_conversation(request: Request, body: Json) -> Conversation:
    """Read a request that `openai_rules` has nothing against.

    The completion's number is at the end of `X-Client-Request-Id` (`<turn id>-<number>`); without that
    header the assistant's messages are counted, which cannot see a completion that timed out.
    """
    named = _REQUEST_ID.fullmatch(request.headers.get("x-client-request-id", ""))
    spoken = sum(message["role"] == "assistant" for message in body["messages"])
    tools = [tool["function"]["name"] for tool in body.get("tools") or () if tool["type"] == "function"]
    return Conversation(
        messages=body["messages"],
        number=int(named[1]) if named else spoken + 1,
        model=body["model"],
        tools=frozenset(tools),
        max_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
        prompt_tokens=len(request.body) // 4,
    )


def text_of(message: Json) -> str:
    """Return a message's text, its parts joined."""
    content = message.get("content")
    if is_array(content):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def _read(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
