"""What happens when a signed-in customer writes: whose conversation, who speaks in it, and is there room."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from refund_agent.conversations import Conversation, Conversations, Entry
from refund_agent.facade import AskAnswer, Started
from refund_agent.limits import Admission, Admitted, Asking, Limiter
from refund_agent.outcomes import KeyReused
from refund_agent.turn import NewTurn

_KEYED = uuid.UUID("0d9b7c0a-5a53-4c57-8d0c-0f8b6a2f8a11")
"""The namespace of conversations that a request with an idempotency key begins."""


@dataclass(frozen=True, slots=True)
class CustomerMessage:
    """What a customer sends. `conversation_id` is empty for a new conversation."""

    turn_id: str
    customer_id: str
    text: str
    conversation_id: str = ""
    request_id: str = ""
    idempotency_key: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class NoSuchConversation:
    """It does not exist, or is somebody else's: the same."""


@dataclass(frozen=True, slots=True)
class WithPerson:
    """A person owns the conversation: the message is kept for them, and the agent is silent.

    `replayed`: it had been kept before, under the same idempotency key.
    """

    conversation_id: str
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A turn was asked for; `ask` is what became of it."""

    conversation_id: str
    ask: AskAnswer | Started


Said: TypeAlias = NoSuchConversation | WithPerson | Admission | Asked
"""`Admission`: why there was no room; nothing was stored."""

RunTurn: TypeAlias = Callable[[NewTurn], AskAnswer | Started]
"""The facade's `ask` or `start`."""


@dataclass(frozen=True, slots=True)
class SupportDesk:
    """Takes a customer's message. Any call may raise `StoreUnavailable`: then nothing was taken."""

    conversations: Conversations
    limiter: Limiter
    knows_key: Callable[[str], bool]
    """Whether an idempotency key has a turn: then the request is a retry, whatever has changed since."""

    def say(self, message: CustomerMessage, run_turn: RunTurn) -> Said:
        """Find or begin the conversation, see that there is room, and hand the turn to the facade."""
        conversation = self._find(message)
        if message.conversation_id and conversation is None:
            return NoSuchConversation()
        if message.idempotency_key and self.knows_key(message.idempotency_key):
            return self._ask(message, conversation, run_turn)
        if message.idempotency_key and (kept := self.conversations.find_entry(message.idempotency_key)):
            is_same = kept == (conversation.id if conversation else "", message.text)
            return (
                WithPerson(kept[0], replayed=True) if is_same else Asked(message.conversation_id, KeyReused())
            )
        if conversation is not None and conversation.owner == "person":
            entry = Entry("customer", message.customer_id, message.text, key=message.idempotency_key)
            self.conversations.add(conversation.id, entry)
            return WithPerson(conversation.id)
        admission = self._admit(message.customer_id, conversation)
        if not isinstance(admission, Admitted):
            return admission
        return self._ask(message, conversation, run_turn)

    def _ask(self, message: CustomerMessage, conversation: Conversation | None, run_turn: RunTurn) -> Asked:
        """Hand the turn over; a new conversation begins in the commit that stores its first turn."""
        conversation_id = conversation.id if conversation else _new_id(message)
        new = NewTurn(
            id=message.turn_id,
            user_id=message.customer_id,
            message=message.text,
            request_id=message.request_id,
            idempotency_key=message.idempotency_key,
            fingerprint=message.fingerprint,
            agent="support",
            conversation_id=conversation_id,
        )
        return Asked(conversation_id, run_turn(new))

    def _find(self, message: CustomerMessage) -> Conversation | None:
        """Return the conversation that the message belongs to; a keyed one may have begun it before."""
        if not message.conversation_id and not message.idempotency_key:
            return None
        wanted = message.conversation_id or _new_id(message)
        return self.conversations.find(wanted, customer_id=message.customer_id)

    def _admit(self, customer_id: str, conversation: Conversation | None) -> Admission:
        if conversation is None:
            return self.limiter.admit(Asking(customer_id))
        used = self.conversations.usage(conversation.id)
        return self.limiter.admit(Asking(customer_id, used.turns, used.tokens))


def _new_id(message: CustomerMessage) -> str:
    """Return a new conversation's id; a retry with the same key finds the same one."""
    return str(uuid.uuid5(_KEYED, message.idempotency_key) if message.idempotency_key else uuid.uuid4())
