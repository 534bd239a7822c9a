"""The stand-in as the support agent's model: it checks before it refunds and says no more than a tool did."""

import json
from typing import Any

import openai
import pytest

TOOLS: list[Any] = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in (
        *("get_my_profile", "list_orders", "get_order"),
        *("check_refund_eligibility", "issue_refund", "escalate_to_human"),
    )
]
CHECK = ("check_refund_eligibility", {"order_id": "ORD-1001", "amount_cents": 4999})
ISSUE = ("issue_refund", {"order_id": "ORD-1001", "amount_cents": 4999})
KETTLE = {
    "order_id": "ORD-1001",
    "title": "Kettle",
    "status": "shipped",
    "delivered_on": None,
    "paid": "5 EUR",
}


class Talk:
    def __init__(self, sdk: openai.OpenAI) -> None:
        self.sdk, self.messages = sdk, list[Any]()

    def say(self, text: str, *answers: dict[str, Any]) -> list[Any]:
        """Say something, answer the tools with these, and give every call and the reply in order."""
        self.messages.append({"role": "user", "content": text})
        heard: list[Any] = []
        for answer in (*answers, None):
            message = (
                self.sdk.chat.completions.create(
                    model="gpt-4o-mini-2024-07-18", messages=self.messages, tools=TOOLS
                )
                .choices[0]
                .message
            )
            self.messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return [*heard, message.content]
            function: Any = message.tool_calls[0]
            heard.append((function.function.name, json.loads(function.function.arguments)))
            content = json.dumps(answer)
            self.messages.append({"role": "tool", "tool_call_id": function.id, "content": content})
        return heard


@pytest.fixture
def talk(sdk: openai.OpenAI) -> Talk:
    return Talk(sdk)


def test_a_refund_is_checked_before_it_is_asked_for(talk: Talk) -> None:
    receipt = {"refund_id": "rf_1", "status": "succeeded", "amount_cents": 4999}
    heard = talk.say("Refund 49.99 for ORD-1001", {"decision": "approved", "because": "ok"}, receipt)
    assert heard[:2] == [CHECK, ISSUE]
    assert "Your refund of 49.99 has been sent" in heard[2]


def test_what_the_policy_denies_is_not_asked_for(talk: Talk) -> None:
    heard = talk.say("Refund 49.99 for ORD-1001", {"decision": "denied", "because": "It is final sale."})
    assert heard == [CHECK, "I am sorry, this cannot be refunded: It is final sale. Nothing was sent."]


def test_what_needs_approval_is_handed_to_the_code_and_said_honestly(talk: Talk) -> None:
    waits = {"decision": "needs_approval", "because": "More than 500.", "waiting_for_approval_cents": 4999}
    heard = talk.say("Refund 49.99 for ORD-1001", {"decision": "needs_approval", "because": "x"}, waits)
    assert heard[:2] == [CHECK, ISSUE]
    assert "waits for a colleague's decision" in heard[2]
    assert "Nothing has been sent yet" in heard[2]


@pytest.mark.parametrize(
    "answer", [{"error": "outcome unknown: the money may or may not have moved"}, {"strange": 1}, {}]
)
def test_an_unclear_answer_is_never_a_refund(talk: Talk, answer: dict[str, Any]) -> None:
    heard = talk.say("Refund 49.99 for ORD-1001", {"decision": "approved", "because": "ok"}, answer)
    assert "has been sent" not in heard[2]
    assert "colleague will check" in heard[2]


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("Where is my order?", ("list_orders", {})),
        ("list my orders", ("list_orders", {})),
        ("What did I order?", ("list_orders", {})),
        ("Where is ORD-1001?", ("get_order", {"order_id": "ORD-1001"})),
        ("Has order ORD-1001 arrived?", ("get_order", {"order_id": "ORD-1001"})),
        ("Who am I?", ("get_my_profile", {})),
    ],
)
def test_a_question_is_looked_up(talk: Talk, text: str, called: Any) -> None:
    assert talk.say(text, {"orders": [KETTLE]})[0] == called


def test_orders_are_told_as_they_are(talk: Talk) -> None:
    assert talk.say("list my orders", {"orders": [KETTLE]})[1].endswith("ORD-1001, Kettle, 5 EUR: shipped")
    assert talk.say("Where is ORD-1001?", KETTLE)[1] == "ORD-1001, Kettle, 5 EUR: shipped."
    assert talk.say("list my orders", {"orders": []})[1] == "You have no orders."
    assert "order not found" in talk.say("Where is ORD-9?", {"error": "order not found"})[1]


@pytest.mark.parametrize(
    "text", ["I want to talk to a person", "Let me speak with a human!", "get me your manager about ORD-1001"]
)
def test_a_person_is_fetched_when_asked_for(talk: Talk, text: str) -> None:
    (tool, arguments), reply = talk.say(text, {"handed_over": True})
    assert (tool, arguments.get("order_id")) == (
        "escalate_to_human",
        "ORD-1001" if "ORD" in text else None,
    )
    assert "colleague" in reply


def test_what_is_missing_is_asked_for_and_then_the_refund_goes_on(talk: Talk) -> None:
    assert talk.say("I want a refund for ORD-1001") == ["How much should I refund for order ORD-1001?"]
    assert talk.say("49.99", {"decision": "denied", "because": "no"})[0] == CHECK
