"""The pieces that the model's scripts are made of."""

import json
from collections.abc import Callable
from typing import TypeAlias

from sandbox.answers import Answer, Json, Reply
from sandbox.assist import CHECK_TOOL, assist
from sandbox.completions import REFUND_TOOL, Play, call, calls, completion, gives, refund_call, says
from sandbox.conversation import Conversation
from sandbox.english import GREETING, HELP, NO_TOOL, report, understand

CallMaker: TypeAlias = Callable[[str, int], Json]
"""Makes a tool call, right or wrong, for an order and an amount in cents."""


def plain(conversation: Conversation) -> Answer:
    """Follow plain English: greet, ask for what is missing, call the tool, report what came of it."""
    if CHECK_TOOL in conversation.tools:
        return assist(conversation)(conversation)
    if conversation.results:
        return says(report(conversation.results))(conversation)
    wish = understand(conversation.wishes)
    if not wish.wants_refund:
        return says(GREETING if wish.greets else HELP)(conversation)
    if REFUND_TOOL not in conversation.tools:
        return says(NO_TOOL)(conversation)
    if wish.order_id is None or wish.amount_cents is None:
        return says(wish.missing())(conversation)
    return calls(refund_call(wish.order_id, wish.amount_cents))(conversation)


def rounds(*plays: Play) -> Play:
    """Play one a round, then plain English."""

    def play(conversation: Conversation) -> Answer:
        spoken = conversation.rounds
        return (plays[spoken] if spoken < len(plays) else plain)(conversation)

    return play


def asks(*makers: CallMaker, content: str | None = None, finish_reason: str = "tool_calls") -> Play:
    """Ask for these calls, made for the order and amount in the message (A1 and 500 if it has none)."""

    def play(conversation: Conversation) -> Answer:
        wish = understand(conversation.wishes)
        order_id, amount_cents = wish.order_id or "A1", wish.amount_cents or 500
        made = [maker(order_id, amount_cents) for maker in makers]
        return calls(*made, content=content, finish_reason=finish_reason)(conversation)

    return play


def arguments(change: Callable[[dict[str, Json]], object]) -> CallMaker:
    """Make a refund call whose arguments are changed; a string is sent as it stands."""
    return lambda order_id, cents: call(REFUND_TOOL, change({"order_id": order_id, "amount_cents": cents}))


def with_field(field: str, value: Json) -> CallMaker:
    """Make a refund call with one field of the call itself replaced."""
    return lambda order_id, cents: refund_call(order_id, cents) | {field: value}


def with_raw_arguments(change: Callable[[dict[str, Json]], Json]) -> CallMaker:
    """Make a refund call whose arguments are not a string at all."""

    def make(order_id: str, cents: int) -> Json:
        given = change({"order_id": order_id, "amount_cents": cents})
        return refund_call(order_id, cents) | {"function": {"name": REFUND_TOOL, "arguments": given}}

    return make


def message(message: Json) -> Play:
    """Give one strange message."""
    return gives({"role": "assistant", "content": None, "refusal": None} | message)


def choices(value: Json) -> Play:
    """Give a completion with something else for its choices; `...` leaves them out."""

    def play(conversation: Conversation) -> Answer:
        body = completion(conversation) | {"choices": value}
        return Reply(200, json.dumps({k: v for k, v in body.items() if v is not ...}).encode())

    return play


def badly(way: Callable[[Reply], Answer]) -> Play:
    """Give the plain answer in a wrong way."""

    def play(conversation: Conversation) -> Answer:
        answer = plain(conversation)
        return way(answer) if isinstance(answer, Reply) else answer

    return play


def cut_json(reply: Reply) -> Reply:
    """Cut a body in the middle, with a length that fits."""
    return Reply(200, reply.body[: len(reply.body) // 2])


def unknown_tool(order_id: str, _: int) -> Json:
    """Make a call of a tool that was never declared."""
    return call("refund_everything", {"order_id": order_id})


def custom_call(order_id: str, _: int) -> Json:
    """Make a call of a custom tool, which has no function."""
    return {"id": "call_custom", "type": "custom", "custom": {"name": REFUND_TOOL, "input": order_id}}


def legacy_call(conversation: Conversation) -> Answer:
    """Ask in the way that was given up before tools."""
    given = '{"order_id": "A1", "amount_cents": 500}'
    message = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": REFUND_TOOL, "arguments": given},
    }
    return gives(message, finish_reason="function_call")(conversation)


def two_choices(conversation: Conversation) -> Answer:
    """Give a text first and a refund call in a second choice."""
    text = {"role": "assistant", "content": "I can refund that for you.", "refusal": None}
    return gives(text, text | {"content": None, "tool_calls": [refund_call("A1", 500)]})(conversation)


WRONG_ARGUMENTS: dict[str, CallMaker] = {
    "cut JSON": arguments(lambda given: json.dumps(given)[:-6]),
    "no arguments": arguments(lambda _: ""),
    "a list": arguments(lambda given: [given]),
    "an extra argument": arguments(lambda given: given | {"currency": "EUR"}),
    "no amount": arguments(lambda given: {"order_id": given["order_id"]}),
    "a float": arguments(lambda given: given | {"amount_cents": given["amount_cents"] / 100}),
    "a bool": arguments(lambda given: given | {"amount_cents": True}),
    "a negative amount": arguments(lambda given: given | {"amount_cents": -given["amount_cents"]}),
}
