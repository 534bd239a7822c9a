"""The support agent's six tools: whose they are is the turn's customer, and code decides about money."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from refund_agent.approvals import (
    Approval,
    ApprovalState,
    BrokenOff,
    DecideAnswer,
    NewApproval,
    NoSuchApproval,
    bind,
)
from refund_agent.conversations import Conversation, Cursor, Entry, Line, Owner, Usage
from refund_agent.eligibility import Eligibility
from refund_agent.orders import Order, OrdersUnavailable, Profile, RefundsSoFar, Standing
from refund_agent.outcomes import CallPosition, Paid
from refund_agent.policy import Rules
from refund_agent.support_tools import SupportTools
from refund_agent.tools import Toolbox
from refund_agent.turn import Message, ToolCall, ToolResult, Turn
from tests.policy_cases import ORDER, RULES, TODAY
from tests.unit.desk import Desk

MINE = replace(ORDER, id="A1", paid_cents=80_000)
THEIRS = replace(ORDER, id="B1", customer_id="c-2", title="A secret gift")


class FakeShop:
    """A shop's own service; `is_away` makes every call fail."""

    def __init__(self, *orders: Order) -> None:
        self.orders = list(orders)
        self.is_away = False

    def find(self, customer_id: str, order_id: str) -> Order | None:
        self._answer()
        mine = [one for one in self.orders if (one.id, one.customer_id) == (order_id, customer_id)]
        return mine[0] if mine else None

    def find_for_staff(self, order_id: str) -> Order | None:
        raise AssertionError("no tool may ask for an order as staff do")

    def list(self, customer_id: str, *, limit: int) -> Sequence[Order]:
        self._answer()
        return [one for one in self.orders if one.customer_id == customer_id][:limit]

    def profile(self, customer_id: str) -> Profile | None:
        self._answer()
        return Profile(customer_id, f"Name of {customer_id}", "secret@example.com")

    def _answer(self) -> None:
        if self.is_away:
            raise OrdersUnavailable("away")


class NothingRefunded:
    def standing(self, order_ids: object) -> Standing:
        return Standing(TODAY, {"A9": RefundsSoFar(paid_cents=1)})


class FakeApprovals:
    def __init__(self) -> None:
        self.asked: list[NewApproval] = []

    def request(self, new: NewApproval) -> Approval:
        self.asked.append(new)
        return Approval(
            id=f"approval-{len(self.asked)}",
            turn_id=new.turn_id,
            conversation_id=new.conversation_id,
            customer_id=new.customer_id,
            order_id=new.order_id,
            amount_cents=new.amount_cents,
            arguments_hash=bind(new.customer_id, new.order_id, new.amount_cents),
            reason=new.reason,
            policy_version=new.policy_version,
            state="pending",
            requested_at_ms=0,
            expires_at_ms=1,
        )

    def find(self, approval_id: str) -> Approval | None:
        return None

    def page(self, *, state: ApprovalState, limit: int) -> list[Approval]:
        return []

    def decide(self, approval_id: str, *, approve: bool, by: str, note: str) -> DecideAnswer:
        return NoSuchApproval()

    def expire(self) -> list[Approval]:
        return []

    def broken_off(self) -> list[BrokenOff]:
        return []


class FakeConversations:
    """Keeps conversations and their entries."""

    def __init__(self) -> None:
        self.owners: dict[str, Owner] = {"conv-1": "agent"}
        self.entries: list[tuple[str, Entry]] = []
        self.holds_the_turn = True

    def find(self, conversation_id: str, *, customer_id: str | None) -> Conversation | None:
        return None

    def page(self, *, customer_id: str, before: Cursor | None, limit: int) -> Sequence[Conversation]:
        return []

    def lines(self, conversation_id: str) -> Sequence[Line]:
        return []

    def usage(self, conversation_id: str) -> Usage:
        return Usage(0, 0)

    def history(self, turn: Turn) -> list[Message]:
        return []

    def add(self, conversation_id: str, entry: Entry) -> None:
        self.entries.append((conversation_id, entry))

    def hand(self, conversation_id: str, *, to: Owner, entry: Entry) -> bool:
        if self.owners.get(conversation_id) == to:
            return False
        self.owners[conversation_id] = to
        self.add(conversation_id, entry)
        return True

    def find_entry(self, key: str) -> tuple[str, str] | None:
        return None

    def escalate(self, turn: Turn, entry: Entry) -> bool:
        self.hand(turn.conversation_id, to="person", entry=entry)
        return self.holds_the_turn


class Counter:
    """The tools of one customer, and everything behind them."""

    def __init__(self, rules: Rules = RULES) -> None:
        self.desk = Desk()
        self.shop = FakeShop(MINE, THEIRS)
        self.approvals = FakeApprovals()
        self.conversations = FakeConversations()
        self.turn = self.desk.begin()
        self.turn.user_id, self.turn.conversation_id = "c-1", "conv-1"
        eligibility = Eligibility(
            orders=self.shop, refunds=NothingRefunded(), rules=rules, orders_are_ours=False
        )
        self.toolbox: Toolbox = SupportTools(
            orders=self.shop,
            eligibility=eligibility,
            refunds=self.desk.refunds,
            approvals=self.approvals,
            conversations=self.conversations,
        ).toolbox()

    def call(self, name: str, **arguments: object) -> Mapping[str, Any]:
        """Call a tool as the model does, and read its answer as the model does."""
        asked = ToolCall("call-1", name, json.dumps(arguments))
        result = self.toolbox.answer(self.turn, CallPosition(1, 0), asked)
        assert isinstance(result, ToolResult)
        answer: dict[str, Any] = json.loads(result.content)
        return answer

    @property
    def sent(self) -> list[tuple[str, int]]:
        return self.desk.payments.requests


@pytest.fixture
def counter() -> Counter:
    counter = Counter()
    # The fake ledger's locked facts: what day it is. The order itself is the shop's.
    counter.desk.database.today = TODAY
    return counter


ORDER_TOOLS: list[tuple[str, dict[str, object]]] = [
    ("get_order", {}),
    ("check_refund_eligibility", {"amount_cents": 100}),
    ("issue_refund", {"amount_cents": 100}),
]


def test_there_are_six_tools_and_none_takes_a_customer(counter: Counter) -> None:
    declared = {one.name: one.parameters for one in counter.toolbox.declarations}
    assert set(declared) == {
        "get_my_profile",
        "list_orders",
        "get_order",
        "check_refund_eligibility",
        "issue_refund",
        "escalate_to_human",
    }
    for parameters in declared.values():
        assert parameters["additionalProperties"] is False
        properties = parameters["properties"]
        assert isinstance(properties, dict)
        assert set(properties) <= {"order_id", "amount_cents", "reason"}


@pytest.mark.fault(267)
@pytest.mark.parametrize(("name", "arguments"), ORDER_TOOLS)
def test_somebody_elses_order_answers_exactly_as_a_missing_one(
    counter: Counter, name: str, arguments: dict[str, object]
) -> None:
    missing = counter.call(name, order_id="no-such-order", **arguments)
    foreign = counter.call(name, order_id="B1", **arguments)
    assert foreign == missing
    assert "order not found" in json.dumps(foreign).lower()
    assert counter.sent == []
    assert counter.approvals.asked == []


def test_a_customer_who_asks_for_another_by_argument_is_refused(counter: Counter) -> None:
    answer = counter.call("get_order", order_id="B1", customer_id="c-2")
    assert "invalid arguments" in answer["error"]
    assert "invalid arguments" in counter.call("get_my_profile", customer_id="c-2")["error"]


def test_the_profile_and_the_list_are_the_turns_own_customers(counter: Counter) -> None:
    assert counter.call("get_my_profile") == {"name": "Name of c-1"}
    listed = counter.call("list_orders")["orders"]
    assert [one["order_id"] for one in listed] == ["A1"]
    assert "secret" not in json.dumps(listed)
    counter.turn.user_id = "c-2"
    assert [one["order_id"] for one in counter.call("list_orders")["orders"]] == ["B1"]


def test_a_check_moves_nothing_and_is_no_attempt(counter: Counter) -> None:
    assert (
        counter.call("check_refund_eligibility", order_id="A1", amount_cents=50_000)["decision"] == "approved"
    )
    above = counter.call("check_refund_eligibility", order_id="A1", amount_cents=50_001)
    assert above["decision"] == "needs_approval"
    assert (
        counter.call("check_refund_eligibility", order_id="A1", amount_cents=80_001)["decision"] == "denied"
    )
    assert not counter.turn.refund_attempted
    assert (counter.sent, counter.approvals.asked) == ([], [])


def test_what_the_policy_allows_is_sent_once(counter: Counter) -> None:
    assert counter.call("issue_refund", order_id="A1", amount_cents=4_999)["refund_id"] == "re-1"
    again = ToolCall("call-2", "issue_refund", json.dumps({"order_id": "A1", "amount_cents": 4_999}))
    result = counter.toolbox.answer(counter.turn, CallPosition(2, 0), again)
    assert isinstance(result, ToolResult)
    assert "refused" in result.content
    assert counter.sent == [("A1", 4_999)]


@pytest.mark.fault(268)
def test_above_the_limit_code_makes_an_approval_of_the_exact_arguments(counter: Counter) -> None:
    answer = counter.call("issue_refund", order_id="A1", amount_cents=50_001)
    assert answer["decision"] == "needs_approval"
    assert answer["waiting_for_approval_cents"] == 50_001
    (asked,) = counter.approvals.asked
    assert (asked.customer_id, asked.order_id, asked.amount_cents) == ("c-1", "A1", 50_001)
    assert (asked.turn_id, asked.conversation_id) == (counter.turn.id, "conv-1")
    assert (asked.policy_version, asked.expiry_days) == ("2026-11", 7)
    assert counter.sent == []


@pytest.mark.fault(268)
def test_above_the_order_it_is_an_error_and_no_approval(counter: Counter) -> None:
    answer = counter.call("issue_refund", order_id="A1", amount_cents=80_001)
    assert answer["error"].startswith("not sent: The amount must be")
    assert (counter.sent, counter.approvals.asked) == ([], [])


def test_a_denial_is_no_attempt_so_what_is_allowed_may_follow(counter: Counter) -> None:
    assert "error" in counter.call("issue_refund", order_id="B1", amount_cents=100)
    assert counter.call("issue_refund", order_id="A1", amount_cents=100)["refund_id"] == "re-1"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("get_my_profile", {}), ("list_orders", {}), *((n, {**a, "order_id": "A1"}) for n, a in ORDER_TOOLS)],
)
def test_orders_that_cannot_be_asked_are_the_tools_error_and_never_a_refund(
    counter: Counter, name: str, arguments: dict[str, object]
) -> None:
    counter.shop.is_away = True
    answer = counter.call(name, **arguments)
    assert list(answer) == ["error"]
    assert (counter.sent, counter.approvals.asked) == ([], [])
    assert counter.desk.database.refunds == {}


def test_handing_over_gives_the_conversation_to_a_person_once(counter: Counter) -> None:
    first = counter.call("escalate_to_human", order_id="A1", reason="They ask for a person.")
    again = counter.call("escalate_to_human", reason="Once more.")
    assert first["handed_over"] is True
    assert again["handed_over"] is True
    assert counter.conversations.owners == {"conv-1": "person"}
    ((where, entry),) = counter.conversations.entries
    assert (where, entry.kind, entry.author) == ("conv-1", "hand_off", "agent")
    assert entry.text == "Handed to a colleague (order A1): They ask for a person."
    assert counter.sent == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            {"reason": "I have refunded 49.99 EUR. They want more."},
            "Handed to a colleague: They want more.",
        ),
        ({"order_id": "A1: your refund was sent", "reason": "Done."}, "Handed to a colleague: Done."),
        ({"reason": "Your refund has been sent."}, "Handed to a colleague."),
        ({"reason": "issue_refund failed"}, "Handed to a colleague: the refund failed"),
    ],
)
def test_a_hand_over_claims_no_refund_to_the_customer(
    counter: Counter, arguments: dict[str, str], told: str
) -> None:
    counter.call("escalate_to_human", **arguments)
    ((_, entry),) = counter.conversations.entries
    assert entry.text == told


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501, 7, None])
def test_a_hand_over_without_a_sensible_reason_is_refused(counter: Counter, reason: object) -> None:
    assert "invalid arguments" in counter.call("escalate_to_human", reason=reason)["error"]
    assert counter.conversations.owners == {"conv-1": "agent"}


def test_the_model_is_told_the_receipt(counter: Counter) -> None:
    counter.desk.payments.ends(Paid("re-9", "pending", 100))
    assert counter.call("issue_refund", order_id="A1", amount_cents=100) == {
        "refund_id": "re-9",
        "status": "pending",
        "amount_cents": 100,
    }


# --- Text that no store can keep --------------------------------------------------------------------

EXAMPLES: dict[str, object] = {"order_id": "A1", "reason": "They ask for a person.", "amount_cents": 100}
UNSAFE = ["\x00", "\ud800", "\udbff", "\udc00", "\udfff", "\udc00\ud800"]
TEXT_ARGUMENTS = [
    ("get_order", "order_id"),
    ("check_refund_eligibility", "order_id"),
    ("issue_refund", "order_id"),
    ("escalate_to_human", "order_id"),
    ("escalate_to_human", "reason"),
]


def properties(counter: Counter, name: str) -> dict[str, Any]:
    (declared,) = [one.parameters["properties"] for one in counter.toolbox.declarations if one.name == name]
    assert isinstance(declared, dict)
    return declared


def test_every_text_that_a_tool_takes_is_tried_below(counter: Counter) -> None:
    assert [
        (one.name, argument)
        for one in counter.toolbox.declarations
        for argument, shape in properties(counter, one.name).items()
        if shape["type"] == "string"
    ] == TEXT_ARGUMENTS


@pytest.mark.fault(298)
@pytest.mark.parametrize(("name", "argument"), TEXT_ARGUMENTS)
@pytest.mark.parametrize("character", UNSAFE)
def test_a_text_that_no_store_can_keep_is_the_tools_error_and_nothing_happens(
    counter: Counter, name: str, argument: str, character: str
) -> None:
    valid = {key: EXAMPLES[key] for key in properties(counter, name)}
    for text in (character, f"{character}A1", f"A{character}1", f"A1{character}"):
        answer = counter.call(name, **{**valid, argument: text})
        assert list(answer) == ["error"]
        assert answer["error"].startswith(f'invalid arguments: {{"{argument}": ["must not contain')
        json.dumps(answer, ensure_ascii=False).encode()
    assert (counter.sent, counter.approvals.asked, counter.conversations.entries) == ([], [], [])
    assert counter.conversations.owners == {"conv-1": "agent"}


# --- The shop goes away once a refund was attempted -------------------------------------------------


@pytest.mark.fault(297)
def test_a_second_refund_call_hears_that_one_was_attempted_although_the_shop_is_away(
    counter: Counter,
) -> None:
    counter.call("issue_refund", order_id="A1", amount_cents=100)
    counter.shop.is_away = True
    again = ToolCall("call-2", "issue_refund", json.dumps({"order_id": "A1", "amount_cents": 100}))
    result = counter.toolbox.answer(counter.turn, CallPosition(2, 0), again)
    assert isinstance(result, ToolResult)
    assert "already attempted" in result.content
    assert counter.sent == [("A1", 100)]


@pytest.mark.fault(297)
def test_a_resumed_turn_hears_of_its_paid_refund_although_the_shop_is_away(counter: Counter) -> None:
    receipt = counter.call("issue_refund", order_id="A1", amount_cents=100)
    counter.shop.is_away = True
    assert counter.call("issue_refund", order_id="A1", amount_cents=100) == receipt
    assert counter.sent == [("A1", 100)]
