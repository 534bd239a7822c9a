"""A facade over a desk's database: what a customer's request meets."""

from collections.abc import Callable
from typing import Any

from refund_agent.facade import AskAnswer, Facade
from refund_agent.turn import NewTurn, TurnRecord
from tests.fakes import FakeQueue, FakeWaitingRoom
from tests.unit.desk import Desk


class Counter:
    """A facade over the desk's database: what a customer's request meets."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.queue = FakeQueue()
        self.room = FakeWaitingRoom(desk.clock)
        self.facade = Facade(
            turns=desk.turns,
            queue=self.queue,
            waiting_room=self.room,
            clock=desk.clock,
            deadline_seconds=120.0,
        )

    def ask(self, *while_waiting: Callable[[], object], turn_id: str = "turn-1", **keys: Any) -> AskAnswer:
        """Ask once; `while_waiting` happen one a wait, and then the time passes."""
        self.room.while_waiting = list(while_waiting)
        return self.facade.ask(NewTurn(turn_id, "user-1", "refund 5.00 for A1", **keys))


def ended(answer: AskAnswer) -> TurnRecord:
    assert isinstance(answer, TurnRecord)
    assert answer.state == "ended"
    return answer
