"""A turn's state: its transcript and what it has used. Everything a checkpoint keeps is here."""

import json
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, cast

from refund_agent.outcomes import CallPosition, RefundRecord, Superseded, TurnOutcome

Agent: TypeAlias = Literal["refund_chat", "support", "approval"]
"""Who answers a turn: each has its own instructions, model and tools; loop, gate and ledger are the same."""

MAX_COMPLETIONS = 5
MAX_ATTEMPTS = 2
MAX_ARGUMENTS_BYTES = 4096
"""Of one tool call. More is kept in part, so that a transcript stays small, and never given to a tool."""


@dataclass(frozen=True, slots=True)
class SystemMessage:
    """The instructions the model is given."""

    content: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    """The customer's words, and nothing else."""

    content: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call the model asked for, made safe to send back to it.

    `problem` is set when the call could not be read as a function call with a JSON string of
    arguments; such a call is answered with that problem and never runs.
    """

    id: str
    name: str
    arguments: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What one completion said and asked for."""

    content: str
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one tool call, by its own id; `content` is a JSON object as text."""

    call_id: str
    content: str


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolResult


@dataclass(slots=True)
class Turn:
    """One message on its way to one outcome, as its current owner holds it.

    `epoch` counts owners: a write that carries an old epoch matches no row. `deadline` is a reading
    of the owner's monotonic clock, in seconds. `refund_attempted` is true from the moment the claim is
    committed, before the request is sent, and never becomes false again.
    `cost_microdollars` becomes None with the first completion whose cost is not known.
    `history` is what the conversation said before this turn; it is read again, never kept with the turn.
    """

    id: str
    epoch: int
    deadline: float
    messages: list[Message]
    completions_used: int = 0
    attempts: int = 1
    refund_attempted: bool = False
    refund: RefundRecord | None = None
    request_id: str = ""
    agent: Agent = "refund_chat"
    user_id: str = ""
    conversation_id: str = ""
    history: list[Message] = field(default_factory=list["Message"])
    tokens_used: int = 0
    cost_microdollars: int | None = 0

    @property
    def budget_is_used_up(self) -> bool:
        """Whether the completion now counted is the last one allowed."""
        return self.completions_used >= MAX_COMPLETIONS

    def pending_calls(self) -> list[tuple[CallPosition, ToolCall]]:
        """Return the calls of the last assistant message that have no result yet, in order."""
        answered = 0
        for message in reversed(self.messages):
            if isinstance(message, ToolResult):
                answered += 1
                continue
            if isinstance(message, AssistantMessage):
                number = sum(isinstance(m, AssistantMessage) for m in self.messages)
                calls = enumerate(message.tool_calls)
                return [(CallPosition(number, i), call) for i, call in calls if i >= answered]
            break
        return []


class RunsTurns(Protocol):
    """An agent: the loop itself, or the loop with something before and after."""

    def run(self, turn: Turn) -> TurnOutcome | Superseded:
        """Run `turn` from wherever it stands."""
        ...


TurnState: TypeAlias = Literal["stored", "queued", "running", "ended"]
"""`stored`: the row exists, its message may not; `queued`: the broker surely took the message."""


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A stored turn as the web and the operator see it. Times are milliseconds of database time."""

    id: str
    state: TurnState
    created_at_ms: int
    deadline_at_ms: int
    completions_used: int = 0
    attempts: int = 1
    epoch: int = 0
    outcome: TurnOutcome | None = None
    refund: RefundRecord | None = None
    agent: Agent = "refund_chat"
    user_id: str = ""
    conversation_id: str = ""


@dataclass(frozen=True, slots=True)
class NewTurn:
    """What the facade stores before anything else happens.

    `idempotency_key` is empty when the caller gave none; `fingerprint` tells its body from another.
    """

    id: str
    user_id: str
    message: str
    request_id: str = ""
    idempotency_key: str = ""
    fingerprint: str = ""
    agent: Agent = "refund_chat"
    conversation_id: str = ""


def encode_messages(messages: list[Message] | tuple[Message, ...]) -> str:
    """Write a transcript as the JSON text that a checkpoint keeps."""
    return json.dumps([_encode(message) for message in messages], ensure_ascii=False, separators=(",", ":"))


def decode_messages(text: str) -> list[Message]:
    """Read a transcript back; the exact inverse of `encode_messages`."""
    return [_decode(entry) for entry in json.loads(text)]


def _encode(message: Message) -> dict[str, Any]:
    match message:
        case SystemMessage(content):
            return {"role": "system", "content": content}
        case UserMessage(content):
            return {"role": "user", "content": content}
        case ToolResult(call_id, content):
            return {"role": "tool", "call_id": call_id, "content": content}
        case AssistantMessage(content, calls):
            listed = [[call.id, call.name, call.arguments, call.problem] for call in calls]
            return {"role": "assistant", "content": content, "calls": listed}


def _decode(entry: dict[str, Any]) -> Message:
    match entry:
        case {"role": "system", "content": str(content)}:
            return SystemMessage(content)
        case {"role": "user", "content": str(content)}:
            return UserMessage(content)
        case {"role": "tool", "call_id": str(call_id), "content": str(content)}:
            return ToolResult(call_id, content)
        case {"role": "assistant", "content": str(content)}:
            stored = cast("list[list[str]]", entry["calls"])
            return AssistantMessage(content, tuple(ToolCall(*call) for call in stored))
        case _:
            raise ValueError(f"a stored message has an unknown shape: role {entry.get('role')!r}")
