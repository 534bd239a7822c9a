"""The hard cases that `make demo SCENARIO=…` plays, each with what must come of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

QUICK_COMPLETIONS = {"COMPLETION_TIMEOUT_SECONDS": "2", "BACKOFF_SECONDS": "0.5"}
QUICK_PAYMENTS = {"PAYMENTS_TIMEOUT_SECONDS": "2"}


@dataclass(frozen=True, slots=True)
class Scenario:
    """One row of the table.

    `message` may start with a script for the model; `payments` is the mode of the one request that
    reaches payments, `posts` how many do. `moved_cents`, `ledger` and `status` are what must come of it;
    `ledger` is None when the turn has no row. `settings` shortens times that a person would wait for.
    """

    name: str
    about: str
    message: str
    meaning: str
    status: int
    ledger: str | None
    moved_cents: tuple[int, ...] = ()
    posts: int = 1
    payments: str = "ok"
    settings: Mapping[str, str] = field(default_factory=dict[str, str])


def _rows() -> Iterator[Scenario]:
    yield from _payments_misbehave()
    yield from _the_model_misbehaves()


def _payments_misbehave() -> Iterator[Scenario]:
    message = "Please refund 49.99 for order ORD-1001."
    yield Scenario(
        "plain",
        "everything works",
        message,
        "The money moved once, the receipt matched, and the customer was told so.",
        status=200,
        ledger="paid",
        moved_cents=(4999,),
    )
    yield Scenario(
        "accept-then-drop",
        "payments moves the money, then closes the connection without an answer",
        message,
        "Money moved, the answer was lost. The service cannot know that, so it says honestly: not sure yet. "
        "It never asks again; the order is locked until a person has looked.",
        status=200,
        ledger="unknown",
        moved_cents=(4999,),
        payments="accept-then-drop",
    )
    yield Scenario(
        "reject",
        "payments refuses the refund with 422 and a reason",
        message,
        "A definite no: no money moved, and the order is free for another request.",
        status=200,
        ledger="rejected",
        payments="reject",
    )
    yield Scenario(
        "redirect",
        "payments answers the POST with a 307 to the same address",
        message,
        "The redirect was not followed: a library that does can post 31 times. What it meant is not known.",
        status=200,
        ledger="unknown",
        payments="redirect-307",
    )
    yield Scenario(
        "drip",
        "payments moves the money, then sends its answer byte by byte, so that no single read is late",
        message,
        "The whole answer has one hard limit. It was cut there, and the outcome is unknown.",
        status=200,
        ledger="unknown",
        moved_cents=(4999,),
        payments="drip-body",
        settings=QUICK_PAYMENTS,
    )
    yield Scenario(
        "slow",
        "payments moves the money at once, and says so after 12 seconds",
        message,
        "The receipt would have come too late. Money moved, and the service says: not sure yet.",
        status=200,
        ledger="unknown",
        moved_cents=(4999,),
        payments="slow",
        settings=QUICK_PAYMENTS,
    )
    yield Scenario(
        "garbage-receipt",
        "payments moves the money and answers 200 with HTML",
        message,
        "An answer that is no receipt proves nothing, and raising would lose the refund: it is unknown.",
        status=200,
        ledger="unknown, for review",
        moved_cents=(4999,),
        payments="garbage-html",
    )
    yield Scenario(
        "wrong-amount",
        "payments sends a receipt for one cent more than was asked",
        message,
        "The reply quotes neither amount. The row is unknown and marked for review, with the receipt kept.",
        status=200,
        ledger="unknown, for review",
        moved_cents=(4999,),
        payments="amount-other",
    )


def _the_model_misbehaves() -> Iterator[Scenario]:
    yield Scenario(
        "timeout-after-refund",
        "the refund is paid, then the model does not answer, twice",
        "[timeout-twice-after-refund] refund 5.00 for order ORD-1007",
        "The portal gets 504, and the problem says that the refund was paid, so nobody sends it again.",
        status=504,
        ledger="paid",
        moved_cents=(500,),
        settings=QUICK_COMPLETIONS,
    )
    yield Scenario(
        "timeout-then-resume",
        "the refund is paid, then the model does not answer once",
        "[timeout-on-2] refund 5.00 for order ORD-1006",
        "The retry went on after the refund instead of starting over: one refund, and a reply.",
        status=200,
        ledger="paid",
        moved_cents=(500,),
        settings=QUICK_COMPLETIONS,
    )
    yield Scenario(
        "two-calls",
        "the model asks for the same refund twice in one message",
        "[two-calls] refund 5.00 for order ORD-1003",
        "The second call was refused before anything was sent: one refund.",
        status=200,
        ledger="paid",
        moved_cents=(500,),
    )
    yield Scenario(
        "five-rounds",
        "the model asks for the refund again and again and never comes to a reply",
        "[five-rounds] refund 5.00 for order ORD-1005",
        "Five completions are all a request may use: 502, and the problem says that one refund was paid.",
        status=502,
        ledger="paid",
        moved_cents=(500,),
    )
    yield Scenario(
        "bad-arguments",
        "the model asks with arguments that are not JSON, then asks properly",
        "[bad-json] refund 5.00 for order ORD-1004",
        "The broken call was never sent and did not count as the request's one refund.",
        status=200,
        ledger="paid",
        moved_cents=(500,),
    )
    yield Scenario(
        "provider-down",
        "the model's provider answers 500",
        "[http-500] refund 5.00 for order ORD-1009",
        "502 at once and no retry. Nothing was sent, and the problem says so.",
        status=502,
        ledger=None,
        posts=0,
    )
    yield Scenario(
        "deadline",
        "the model has not answered when the request's own deadline passes",
        "[timeout] refund 5.00 for order ORD-1008",
        "504, and the gate is closed: no refund was sent, and none can be sent later.",
        status=504,
        ledger="closed",
        posts=0,
        settings={"TURN_DEADLINE_SECONDS": "4", "PAYMENTS_TIMEOUT_SECONDS": "1"},
    )


SCENARIOS = {scenario.name: scenario for scenario in _rows()}
