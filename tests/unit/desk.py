"""One worker's core over fakes: what a test of a turn needs, wired as in production."""

from collections.abc import Callable
from typing import TypeAlias

from refund_agent import prompts
from refund_agent.loop import Loop
from refund_agent.outcomes import Replied, Superseded, TurnOutcome
from refund_agent.ports import CompletionAnswer
from refund_agent.refunds import Refunds
from refund_agent.runner import DeliveryEnding, Runner
from refund_agent.tools import Toolbox
from refund_agent.turn import NewTurn, ToolCall, ToolResult, Turn
from tests.fake_tables import FakeDatabase, FakeLedger, FakeTurns
from tests.fakes import FakeAudit, FakeClock, FakeHints, FakeModel, FakePayments, calls, says

Script: TypeAlias = CompletionAnswer | Callable[[], CompletionAnswer]


class Desk:
    """Runs turns with scripted models; everything that happened can be asked afterwards."""

    def __init__(self, database: FakeDatabase | None = None) -> None:
        self.clock = FakeClock()
        self.database = database or FakeDatabase()
        self.turns = FakeTurns(self.database, self.clock)
        self.ledger = FakeLedger(self.database)
        self.payments = FakePayments()
        self.audit = FakeAudit()
        self.hints = FakeHints()
        self.model = FakeModel()
        self.turn: Turn
        self.refunds = Refunds(
            ledger=self.ledger,
            payments=self.payments,
            audit=self.audit,
            hints=self.hints,
            clock=self.clock,
            payments_timeout_seconds=10.0,
        )
        self.toolbox = Toolbox([self.refunds.tool()])

    def store(self, turn_id: str = "turn-1", message: str = "refund 5.00 for A1") -> str:
        """Store and queue a turn, as the facade does."""
        self.turns.create(NewTurn(turn_id, "user-1", message))
        self.turns.mark_queued(turn_id)
        return turn_id

    def begin(self, turn_id: str = "turn-1", *, owner: str = "worker-1") -> Turn:
        """Take a stored turn as a worker does, storing it first when it is new."""
        if turn_id not in self.database.turns:
            self.store(turn_id)
        turn = self.turns.begin(turn_id, owner=owner)
        assert turn is not None
        return turn

    def run(self, *script: Script, turn: Turn | None = None) -> TurnOutcome | Superseded:
        """Run a turn (a new one unless given) while the model answers by `script`."""
        self.model = FakeModel(*script)
        self.turn = turn or self.begin()
        return self.loop().run(self.turn)

    def deliver(self, *script: Script, turn_id: str = "turn-1", owner: str = "worker-1") -> DeliveryEnding:
        """Deliver the turn's message to a worker while the model answers by `script`."""
        self.model = FakeModel(*script)
        return Runner(
            turns=self.turns, agents={"refund_chat": self.loop()}, hints=self.hints, owner=owner
        ).run(turn_id)

    def loop(self) -> Loop:
        return Loop(
            instructions=prompts.REFUND_CHAT,
            model=self.model,
            toolbox=self.toolbox,
            turns=self.turns,
            hints=self.hints,
            clock=self.clock,
            completion_timeout_seconds=20.0,
            backoff_seconds=2.0,
        )

    def results(self) -> list[ToolResult]:
        """Every tool result of the last turn run, in order."""
        return [message for message in self.turn.messages if isinstance(message, ToolResult)]

    def answer(self, call: ToolCall) -> ToolResult:
        """Give one tool call, alone in a turn of its own, to the model's one tool."""
        turn = self.begin(f"turn-{len(self.database.turns) + 1}")
        outcome = self.run(calls(call), says("done"), turn=turn)
        assert outcome == Replied("done")
        (result,) = self.results()
        return result
