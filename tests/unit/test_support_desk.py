"""The desk where a signed-in customer writes: whose conversation, who speaks in it, is there room."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from refund_agent.conversations import Conversation, Cursor, Entry, Line, Owner, Usage
from refund_agent.facade import NotStored, Started
from refund_agent.limits import Admitted, Asking, ConversationFull, LimiterAway, NoRoom, TooFast
from refund_agent.outcomes import KeyReused
from refund_agent.support_desk import (
    Asked,
    CustomerMessage,
    NoSuchConversation,
    Said,
    SupportDesk,
    WithPerson,
)
from refund_agent.turn import Message, NewTurn, Turn
from tests.support_stage import FakeLimiter

ADA, BEN = "cust-ada", "cust-ben"


@dataclass
class FakeConversations:
    """Keeps whose conversations there are and who speaks in them, and what is written outside turns."""

    known: dict[str, Conversation] = field(default_factory=dict[str, Conversation])
    entries: list[tuple[str, Entry]] = field(default_factory=list[tuple[str, Entry]])
    used: Usage = field(default_factory=lambda: Usage(0, 0))

    def begin(self, conversation_id: str, *, owner: Owner = "agent") -> str:
        self.known[conversation_id] = Conversation(conversation_id, ADA, owner, 0, 0)
        return conversation_id

    def find(self, conversation_id: str, *, customer_id: str | None) -> Conversation | None:
        found = self.known.get(conversation_id)
        return found if found is not None and found.customer_id == customer_id else None

    def page(self, *, customer_id: str, before: Cursor | None, limit: int) -> Sequence[Conversation]:
        return []

    def lines(self, conversation_id: str) -> Sequence[Line]:
        return []

    def usage(self, conversation_id: str) -> Usage:
        return self.used

    def history(self, turn: Turn) -> list[Message]:
        return []

    def add(self, conversation_id: str, entry: Entry) -> None:
        self.entries.append((conversation_id, entry))

    def find_entry(self, key: str) -> tuple[str, str] | None:
        kept = [(where, entry.text) for where, entry in self.entries if entry.key == key]
        return kept[0] if kept else None

    def hand(self, conversation_id: str, *, to: Owner, entry: Entry) -> bool:
        return False

    def escalate(self, turn: Turn, entry: Entry) -> bool:
        return False


class Shop:
    """A desk over fakes; `handed` are the turns that the facade was given."""

    def __init__(self) -> None:
        self.conversations, self.limiter = FakeConversations(), FakeLimiter()
        self.keys: set[str] = set()
        self.handed: list[NewTurn] = []
        self.answer: Started | NotStored = Started("t-1")
        self.desk = SupportDesk(self.conversations, self.limiter, self.keys.__contains__)

    def say(self, conversation_id: str = "", *, key: str = "", by: str = ADA, text: str = "Hello") -> Said:
        message = CustomerMessage("t-1", by, text, conversation_id, "r-1", key, "print")
        return self.desk.say(message, self._hand)

    def _hand(self, new: NewTurn) -> Started | NotStored:
        self.handed.append(new)
        return self.answer


@pytest.fixture
def shop() -> Shop:
    return Shop()


def test_a_first_message_begins_a_conversation_of_the_customers_own(shop: Shop) -> None:
    said = shop.say()

    (new,) = shop.handed
    assert said == Asked(new.conversation_id, Started("t-1"))
    assert new.conversation_id
    assert (new.id, new.user_id, new.message, new.agent) == ("t-1", ADA, "Hello", "support")
    assert (new.request_id, new.idempotency_key, new.fingerprint) == ("r-1", "", "print")


def test_two_first_messages_begin_two_conversations(shop: Shop) -> None:
    shop.say()
    shop.say()
    assert len({new.conversation_id for new in shop.handed}) == 2


def test_a_first_message_that_is_sent_again_with_its_key_belongs_to_the_same_conversation(shop: Shop) -> None:
    shop.say(key="key-1")
    shop.say(key="key-1")
    assert len({new.conversation_id for new in shop.handed}) == 1


@pytest.mark.parametrize("by", [BEN, "staff-dana"])
def test_somebody_elses_conversation_does_not_exist_and_nobody_is_asked_about_room(
    shop: Shop, by: str
) -> None:
    shop.conversations.begin("conv-1")
    assert shop.say("conv-1", by=by) == NoSuchConversation() == shop.say("conv-2", by=by)
    assert (shop.handed, shop.limiter.asked, shop.conversations.entries) == ([], [], [])


def test_a_message_goes_on_in_the_conversation_that_it_names(shop: Shop) -> None:
    shop.conversations.begin("conv-1")
    assert shop.say("conv-1") == Asked("conv-1", Started("t-1"))
    assert [new.conversation_id for new in shop.handed] == ["conv-1"]


def test_what_the_conversation_has_used_is_what_the_limiter_judges(shop: Shop) -> None:
    shop.conversations.begin("conv-1")
    shop.conversations.used = Usage(turns=7, tokens=900)
    shop.say("conv-1")
    shop.say()
    assert shop.limiter.asked == [Asking(ADA, 7, 900), Asking(ADA)]


@pytest.mark.parametrize(
    "refusal", [TooFast(3), ConversationFull("turns"), NoRoom("full", 2), LimiterAway("ConnectionError")]
)
def test_without_room_no_turn_is_handed_over(
    shop: Shop, refusal: TooFast | ConversationFull | NoRoom | LimiterAway
) -> None:
    shop.limiter.answer = refusal
    assert shop.say() == refusal
    assert shop.handed == []


def test_while_a_person_owns_the_conversation_the_message_is_kept_for_them_and_no_turn_runs(
    shop: Shop,
) -> None:
    shop.conversations.begin("conv-1", owner="person")
    assert shop.say("conv-1", key="key-1") == WithPerson("conv-1")
    assert shop.conversations.entries == [("conv-1", Entry("customer", ADA, "Hello", key="key-1"))]
    assert (shop.handed, shop.limiter.asked) == ([], [])


def test_a_retry_of_what_was_kept_for_a_person_is_no_turn_when_the_agent_speaks_again(shop: Shop) -> None:
    """The person may have dealt with it: a turn could refund what was refused, or a second time."""
    shop.conversations.begin("conv-1", owner="person")
    shop.say("conv-1", key="key-1")
    shop.conversations.begin("conv-1", owner="agent")

    assert shop.say("conv-1", key="key-1") == WithPerson("conv-1", replayed=True)
    assert len(shop.conversations.entries) == 1
    assert shop.handed == []


@pytest.mark.fault(28)
@pytest.mark.parametrize("owner", ["person", "agent"])
def test_the_key_of_what_was_kept_for_a_person_is_refused_with_another_body(shop: Shop, owner: Owner) -> None:
    shop.conversations.begin("conv-1", owner="person")
    shop.say("conv-1", key="key-1")
    shop.conversations.begin("conv-1", owner=owner)
    shop.conversations.begin("conv-2", owner=owner)

    assert shop.say("conv-1", key="key-1", text="Another") == Asked("conv-1", KeyReused())
    assert shop.say("conv-2", key="key-1") == Asked("conv-2", KeyReused())
    assert shop.say(key="key-1") == Asked("", KeyReused())
    assert [entry.text for _, entry in shop.conversations.entries] == ["Hello"]
    assert shop.handed == []


def test_a_retry_finds_its_turn_whatever_has_changed_since(shop: Shop) -> None:
    """Neither a limit nor a person who took over meanwhile may make two of one message."""
    shop.conversations.begin("conv-1", owner="person")
    shop.keys.add("key-1")
    shop.limiter.answer = TooFast(3)
    assert shop.say("conv-1", key="key-1") == Asked("conv-1", Started("t-1"))
    assert (shop.limiter.asked, shop.conversations.entries) == ([], [])


def test_a_message_that_was_not_stored_leaves_nothing_behind(shop: Shop) -> None:
    shop.answer = NotStored()
    said = shop.say()
    assert isinstance(said, Asked)
    assert said.ask == NotStored()
    assert (shop.conversations.known, shop.conversations.entries) == ({}, [])
    assert isinstance(shop.limiter.answer, Admitted)
