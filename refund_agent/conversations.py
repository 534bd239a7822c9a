"""Conversations of the support agent: whose they are, who speaks in them, and what was said."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from refund_agent.outcomes import RefundRecord
from refund_agent.turn import Message, Turn

Owner: TypeAlias = Literal["agent", "person"]
EntryKind: TypeAlias = Literal["customer", "staff", "hand_off", "taken_back", "approval", "refund"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One customer's conversation. Times are milliseconds of database time."""

    id: str
    customer_id: str
    owner: Owner
    created_at_ms: int
    updated_at_ms: int


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last conversation of a page; the next page begins after it."""

    updated_at_ms: int
    id: str


@dataclass(frozen=True, slots=True)
class Entry:
    """Something said or done outside a turn: a person's words, both ends of a hand-off, an approval.

    An entry with a `key` or an `id` is recorded once, whoever tries again after a crash. An `id` is for one
    that a store has to find again: it is the entry's own.
    """

    kind: EntryKind
    author: str
    text: str
    key: str = ""
    id: str = ""


LineKind: TypeAlias = EntryKind | Literal["reply", "unanswered"]
"""What a line is, so that a page can say in its reader's language what is nobody's words: a hand-off, say."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a conversation as people read it.

    `refund` is the ledger row of the line's turn; of a `refund` line, that of the approved refund.
    `author` is the member of staff who wrote a `staff` line.
    """

    at_ms: int
    speaker: Literal["customer", "agent", "staff", "system"]
    text: str
    kind: LineKind
    turn_id: str = ""
    refund: RefundRecord | None = None
    author: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a conversation has used up."""

    turns: int
    tokens: int


class Conversations(Protocol):
    """The conversations; any call may raise `StoreUnavailable`.

    A new one begins with its first turn, in the same commit: `Turns.create`.
    """

    def find(self, conversation_id: str, *, customer_id: str | None) -> Conversation | None:
        """Return it, or None when it is not there or not this customer's; None as customer: staff asks."""
        ...

    def page(self, *, customer_id: str, before: Cursor | None, limit: int) -> Sequence[Conversation]:
        """Return the customer's conversations, newest first, those after the cursor."""
        ...

    def lines(self, conversation_id: str) -> Sequence[Line]:
        """Return what was said, in order: of a long conversation, the newest turns and entries."""
        ...

    def usage(self, conversation_id: str) -> Usage:
        """Return how many turns and tokens it has used."""
        ...

    def history(self, turn: Turn) -> list[Message]:
        """Return what was said before `turn`, capped, every tool call with its answer."""
        ...

    def add(self, conversation_id: str, entry: Entry) -> None:
        """Record something said or done outside a turn."""
        ...

    def find_entry(self, key: str) -> tuple[str, str] | None:
        """Return the conversation's id and the text of the entry recorded under this key, or None."""
        ...

    def hand(self, conversation_id: str, *, to: Owner, entry: Entry) -> bool:
        """Give the conversation to a person or back to the agent; False when it is there already."""
        ...

    def escalate(self, turn: Turn, entry: Entry) -> bool:
        """Give the turn's conversation to a person; False when this owner's epoch no longer holds it."""
        ...
