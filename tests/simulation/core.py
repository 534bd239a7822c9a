"""The service's own parts, built as `wiring` builds them, from modules that may lack one guard."""

from collections.abc import Callable
from typing import Any

from refund_agent.prompts import REFUND_CHAT
from refund_agent.turn import SystemMessage
from tests.simulation.database import SimulatedDatabase
from tests.simulation.hostile_model import HostileModel
from tests.simulation.hostile_payments import HostilePayments
from tests.simulation.modules import Modules
from tests.simulation.outside import Broker, Mirror, Wires
from tests.simulation.timing import Timing


class NobodyNotes:
    """Implements the port `Journal`: no event is evidence about money."""

    def note(self, turn_id: str, kind: str, body: object) -> None:
        pass


NOBODY_NOTES = NobodyNotes()


class Core:
    """Builds what one process needs; the outside world is the same for all of them."""

    def __init__(
        self,
        modules: Modules,
        timing: Timing,
        *,
        database: SimulatedDatabase,
        model: HostileModel,
        payments: HostilePayments,
        broker: Broker,
        mirror: Mirror,
        wires: Wires,
    ) -> None:
        self._modules = modules
        self.timing = timing
        self._database = database
        self._model = model
        self._payments = payments
        self._broker = broker
        self._mirror = mirror
        self._wires = wires
        self.sweeps: Any = modules["refund_agent.adapters.sql_sweeps"].SqlSweeps(
            database,
            lease_seconds=timing.lease_seconds,
            payments_timeout_seconds=timing.payments_timeout_seconds,
        )

    def turns(self, clock: object) -> Any:
        """Return a process's `Turns`."""
        return self._modules["refund_agent.adapters.sql_turns"].SqlTurns(
            self._database,
            clock=clock,
            deadline_seconds=self.timing.deadline_seconds,
            lease_seconds=self.timing.lease_seconds,
        )

    def ledger(self) -> Any:
        """Return a process's `Ledger`."""
        return self._modules["refund_agent.adapters.sql_ledger"].SqlLedger(self._database)

    def facade(self, *, turns: object, waiting_room: object, clock: object) -> Any:
        """Return a web process's facade."""
        return self._modules["refund_agent.facade"].Facade(
            turns=turns,
            queue=self._broker,
            waiting_room=waiting_room,
            clock=clock,
            deadline_seconds=self.timing.deadline_seconds,
        )

    def sweeper(self, *, turns: object) -> Any:
        """Return a worker process's sweeper."""
        return self._modules["refund_agent.sweeper"].Sweeper(
            sweeps=self.sweeps,
            turns=turns,
            queue=self._broker,
            audit=self._mirror,
            hints=self._wires,
            journal=NOBODY_NOTES,
        )

    def runner(self, *, turns: object, ledger: object, clock: object, owner: str) -> Any:
        """Return what runs turns in a worker process."""
        agents = self._agents(turns=turns, ledger=ledger, clock=clock)
        return self._modules["refund_agent.runner"].Runner(
            turns=turns, agents=agents, hints=self._wires, owner=owner
        )

    def chores(self) -> tuple[Callable[[], object], ...]:
        """Return what a worker process does beside sweeping."""
        return ()

    def _agents(self, *, turns: object, ledger: object, clock: object) -> dict[str, Any]:
        refunds = self._refunds(ledger=ledger, clock=clock)
        toolbox = self._modules["refund_agent.tools"].Toolbox([refunds.tool()])
        return {"refund_chat": self._loop(REFUND_CHAT, self._model, toolbox, turns=turns, clock=clock)}

    def _refunds(self, *, ledger: object, clock: object) -> Any:
        return self._modules["refund_agent.refunds"].Refunds(
            ledger=ledger,
            payments=self._payments,
            audit=self._mirror,
            hints=self._wires,
            clock=clock,
            payments_timeout_seconds=self.timing.payments_timeout_seconds,
        )

    def _loop(
        self, instructions: SystemMessage, model: object, toolbox: object, *, turns: object, clock: object
    ) -> Any:
        return self._modules["refund_agent.loop"].Loop(
            instructions=instructions,
            model=model,
            toolbox=toolbox,
            turns=turns,
            hints=self._wires,
            clock=clock,
            completion_timeout_seconds=self.timing.completion_timeout_seconds,
            backoff_seconds=self.timing.backoff_seconds,
        )
