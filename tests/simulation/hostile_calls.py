"""The tool calls of a model that says anything. Each valid one asks for an amount of its own.

So whatever reaches payments can be traced to the one call that asked for it, and to whether that call was
one that may run.
"""

import json
import random
from dataclasses import dataclass

from refund_agent.turn import ToolCall

BAD_ARGUMENTS = (
    *(
        "",
        "   ",
        "null",
        '"null"',
        "[]",
        "7",
        "true",
        "{}",
        "{",
        "[" * 100,
        "[" * 5000,
        "\ufeff{}",
        "{} {}",
        "{}x",
    ),
    *('{"order_id": "%s"}', '{"amount_cents": %d}', '{"order_id": "%s", "amount_cents": true}'),
    *('{"order_id": "%s", "amount_cents": 1.0}', '{"order_id": "%s", "amount_cents": 1e2}'),
    *('{"order_id": "%s", "amount_cents": 100.5}', '{"order_id": "%s", "amount_cents": NaN}'),
    *('{"order_id": "%s", "amount_cents": 0}', '{"order_id": "%s", "amount_cents": -5}'),
    *('{"order_id": "%s", "amount_cents": 9007199254740992}', '{"order_id": "%s", "amount_cents": "500"}'),
    *('{"order_id": "", "amount_cents": 5}', '{"order_id": "  ", "amount_cents": 5}'),
    *('{"order_id": 7, "amount_cents": 5}', '{"order_id": null, "amount_cents": 5}'),
    *('{"order_id": "\\u200b%s", "amount_cents": 5}', '{"order_id": "%s\\r\\n", "amount_cents": 5}'),
    *('{"order_id": "\\ud800%s", "amount_cents": 5}', '{"order_id": "%s\\u0000", "amount_cents": 5}'),
    *(
        '{"order_id": "%s", "amount_cents": 5, "currency": "EUR"}',
        '{"order_id": "%s", "amount_cents": 5, "__proto__": 1}',
    ),
    *(
        '{"order_id": "%s", "order_id": "%s", "amount_cents": 5}',
        '{"order_id": "' + "x" * 129 + '", "amount_cents": 5}',
    ),
)
OTHER_NAMES = (
    "issue_refunds",
    "ISSUE_REFUND",
    "cancel_order",
    "multi_tool_use.parallel",
    "issue_refund_",
    "x",
)
STRANGE_ORDERS = ("../x", "a/b?x=1#f", "%2e%2e", "'; DROP TABLE refunds; --", "\u212a-1", "{{7*7}}", "ord 1")


@dataclass(frozen=True, slots=True)
class Asked:
    """One valid call that the model made: the only thing that may become a request."""

    turn_id: str
    completion: int
    order_id: str
    amount_cents: int
    may_run: bool


class Calls:
    """Makes calls, and remembers every valid one by its amount."""

    def __init__(self, rng: random.Random, *, orders: int) -> None:
        self._rng = rng
        self._orders = [f"ORD-{n}" for n in range(orders)]
        self.asked: dict[int, Asked] = {}
        self._next_cents = 100

    def arguments(self, turn_id: str, completion: int, *, may_run: bool) -> str:
        """Return valid arguments, as text."""
        rng = self._rng
        self._next_cents += 1
        order = rng.choice(STRANGE_ORDERS) if rng.random() < 0.03 else rng.choice(self._orders)
        asked = Asked(turn_id, completion, order, self._next_cents, may_run)
        self.asked[asked.amount_cents] = asked
        return json.dumps({"order_id": order, "amount_cents": asked.amount_cents})

    def who_asked(self, turn_id: str, order_id: str, amount_cents: int) -> Asked | None:
        """Return the call that asked for this refund. Here its amount tells: each is asked for once."""
        del turn_id, order_id
        return self.asked.get(amount_cents)

    def text(self) -> str:
        """Return what a completion says that is the last."""
        return self._rng.choice(("Done.", "", "Your refund is on its way."))

    def bad_arguments(self) -> str:
        """Return arguments that no reading may accept."""
        text = self._rng.choice(BAD_ARGUMENTS)
        order = self._rng.choice(self._orders)
        return text.replace("%s", order).replace("%d", "500")

    def call_id(self) -> str:
        """Return an id; ids come again, in a message and across messages."""
        return f"call_{self._rng.randrange(12)}"

    def calls(self, turn_id: str, completion: int, *, cut: bool) -> tuple[ToolCall, ...]:
        """Make the calls of one message at the level of the port, where ids do not repeat in a message."""
        rng = self._rng
        many = rng.choice((1, 1, 1, 2, 2, 3, 10))
        made: list[ToolCall] = []
        for number in range(many):
            call_id, kind = f"{self.call_id()}{'.' * number}", rng.random()
            if kind < 0.55:
                arguments = self.arguments(turn_id, completion, may_run=not cut)
                made.append(ToolCall(call_id, "issue_refund", arguments))
            elif kind < 0.8:
                made.append(ToolCall(call_id, "issue_refund", self.bad_arguments()))
            elif kind < 0.9:
                arguments = self.arguments(turn_id, completion, may_run=False)
                made.append(ToolCall(call_id, rng.choice(OTHER_NAMES), arguments))
            else:
                arguments = self.arguments(turn_id, completion, may_run=False)
                made.append(ToolCall(call_id, "issue_refund", arguments, problem="not a function call"))
        return tuple(made)
