"""The two outside services of a chaos run. Every step of a turn can be held and awaited here."""

import json
import threading
from collections import Counter

from sandbox.answers import Answer, Raw, Reply, Request, as_json
from sandbox.completions import calls_refund, says
from sandbox.conversation import Conversation, read_conversation
from sandbox.payment_parts import Mode, RefundCall
from sandbox.payments import Payments
from tests.chaos.hold import Hold

AMOUNT_CENTS = 500
FIRST, LAST = 1, 2
"""A turn of a chaos run needs two completions: one asks for the refund, one tells its result."""


class ChaosModel:
    """Asks for the refund of the order that the customer names, then says the tool's result as it stands."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holds: dict[int, Hold] = {}
        self.made: Counter[str] = Counter()
        """Completions asked for, by turn id."""

    def hold(self, stage: int) -> Hold:
        """Keep the next completion of this stage waiting."""
        hold = Hold()
        with self._lock:
            self._holds[stage] = hold
        return hold

    def forget_holds(self) -> None:
        """Answer everything at once from now on, also what waits."""
        with self._lock:
            holds, self._holds = list(self._holds.values()), {}
        for hold in holds:
            hold.release()

    def opening(self, path: str) -> Raw | None:
        """Read every request."""
        return None

    def answer(self, request: Request) -> Answer:
        """Make one completion."""
        conversation = read_conversation(request, request.json())
        stage = LAST if conversation.rounds else FIRST
        with self._lock:
            self.made[request.headers["x-client-request-id"].rpartition("-")[0]] += 1
            hold = self._holds.pop(stage, None)
        reply = _completion(conversation, stage)
        return reply if hold is None else hold.answer(lambda: reply)


def _completion(conversation: Conversation, stage: int) -> Reply:
    if stage == FIRST:
        play = calls_refund(conversation.messages[-1]["content"], AMOUNT_CENTS)
    else:
        play = says(json.dumps(conversation.results[-1]))
    made = play(conversation)
    assert isinstance(made, Reply)
    return made


class ChaosPayments(Payments):
    """The payments stand-in, whose next answer can be held before or after the money has moved."""

    def hold(self, *, moves_on_arrival: bool) -> Hold:
        """Keep the next refund waiting; its money moves when it arrives, or when it is released."""
        hold = Hold()

        def play(call: RefundCall) -> Answer:
            def receipt() -> Reply:
                return as_json(call.receipt())

            if moves_on_arrival:
                return hold.answer(receipt, on_arrival=call.move)
            return hold.answer(receipt, on_release=call.move)

        with self._changed:
            self._next.append(Mode("held", "late", "answers when told to", play))
        return hold

    def forget_holds(self) -> None:
        """Hold nothing that has not arrived yet."""
        with self._changed:
            self._next.clear()

    def movements(self, order_id: str) -> int:
        """How often money moved for this order."""
        return sum(order == order_id for order, _ in self.moved)

    def posts(self, order_id: str) -> int:
        """How many refund requests for this order arrived."""
        with self._changed:
            return sum(request.body["order_id"] == order_id for request in self.requests)
