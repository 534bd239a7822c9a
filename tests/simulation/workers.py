"""Worker processes: threads that run turns under one owner's name, and the upkeep beside them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from refund_agent.outcomes import ClaimAnswer, PaymentAnswer, RefundRecord
from refund_agent.turn import Turn
from refund_agent.wiring import WorkerParts
from tasks.upkeep import Upkeep
from tests.simulation.clocks import ProcessClock
from tests.simulation.core import Core
from tests.simulation.scheduler import Process
from tests.simulation.stage import SIGKILL_SECONDS, Stage
from tests.simulation.witness import Witness


class WatchedTurns:
    """The real `Turns` of one worker process; remembers which turn each thread has in its hands."""

    def __init__(self, turns: Any, stage: Stage) -> None:
        self._turns = turns
        self._stage = stage

    def begin(self, turn_id: str, *, owner: str) -> Turn | None:
        actor, asked_at = self._stage.scheduler.me(), self._stage.scheduler.now
        turn: Turn | None = self._turns.begin(turn_id, owner=owner)
        actor.turn, actor.begin_seconds = turn, self._stage.scheduler.now - asked_at
        return turn

    def __getattr__(self, name: str) -> Any:
        return getattr(self._turns, name)


class WatchedLedger:
    """The real `Ledger`; tells the witness what a claim was answered."""

    def __init__(self, ledger: Any, stage: Stage, witness: Witness) -> None:
        self._ledger = ledger
        self._stage = stage
        self._witness = witness

    def claim(self, turn: Turn, **asked: Any) -> ClaimAnswer:
        asked_at = self._stage.scheduler.now
        answer: ClaimAnswer = self._ledger.claim(turn, **asked)
        self._witness.claim_answered(turn.id, answer, asked_at=asked_at)
        return answer

    def settle(self, claimed: RefundRecord, *, epoch: int, answer: PaymentAnswer) -> RefundRecord:
        settled: RefundRecord = self._ledger.settle(claimed, epoch=epoch, answer=answer)
        return settled


@dataclass(frozen=True, slots=True)
class Nobody:
    """Stands where presence is told: no refund depends on it."""

    def beat(self, process: str, count: int) -> None:
        pass

    def leave(self, process: str) -> None:
        pass


@dataclass(frozen=True, slots=True)
class SteppedParts:
    """What upkeep uses of `WorkerParts`."""

    runner: Any
    sweeper: Any
    sweeps: Any
    presence: Nobody
    chores: tuple[Callable[[], object], ...]


class SteppedUpkeep(Upkeep):
    """The real upkeep, without its threads and its alarms."""

    def keep_leases(self, stage: Stage, process: Process, witness: Witness) -> None:
        """Step as the thread does that keeps leases: an actor for ever."""
        while process.is_alive:
            witness.leases_are_kept(process, self._parts.runner.running())
            self._try(self._renew)
            stage.scheduler.pause(self._pause_seconds)

    def mend(self, stage: Stage, process: Process) -> None:
        """Step as the thread does that mends: an actor for ever."""
        while process.is_alive:
            self._try(self._sweep)
            stage.scheduler.pause(self._sweep_pause_seconds)

    def _raise_alarms(self) -> None:
        """Look at no figures: they are read only, and slow."""


class WorkerProcess:
    """A worker process: threads that run turns under one owner's name, and its upkeep."""

    def __init__(self, stage: Stage, process: Process, core: Core, witness: Witness, *, threads: int) -> None:
        self._stage = stage
        self.process = process
        self._threads = threads
        self.busy = 0
        self.freed: Callable[[], None] = lambda: None
        self._witness = witness
        clock = ProcessClock(stage, process, witness)
        turns = WatchedTurns(core.turns(clock), stage)
        ledger = WatchedLedger(core.ledger(), stage, witness)
        self._runner = core.runner(turns=turns, ledger=ledger, clock=clock, owner=process.name)
        parts = SteppedParts(self._runner, core.sweeper(turns=turns), core.sweeps, Nobody(), core.chores())
        self._upkeep = SteppedUpkeep(
            cast("WorkerParts", parts),
            owner=process.name,
            clock=clock,
            lease_seconds=core.timing.lease_seconds,
        )
        stage.scheduler.spawn("upkeep", process, lambda: self._upkeep.keep_leases(stage, process, witness))
        stage.scheduler.spawn("sweeps", process, lambda: self._upkeep.mend(stage, process))

    def take(self, turn_id: str) -> bool:
        """Take a message, if a thread is free."""
        if not self.process.is_alive or self.process.is_stopping or self.busy >= self._threads:
            return False
        self.busy += 1
        self._stage.scheduler.spawn("run", self.process, lambda: self._run(turn_id))
        return True

    def _run(self, turn_id: str) -> None:
        actor = self._stage.scheduler.me()
        actor.turn_id = turn_id
        self._stage.note("message taken")
        try:
            ending = self._runner.run(turn_id)
        except Exception as error:  # noqa: BLE001 - the task promises never to raise
            self._witness.raised(turn_id, "runner", error)
            return
        self._stage.note(f"run over: {ending}")
        actor.turn = None
        self.busy -= 1
        self.freed()

    def stop(self) -> None:
        """Get SIGTERM, as a dyno does 30 s before SIGKILL."""
        self.process.is_stopping, self.process.troubled_at = True, math.inf
        self._stage.note_for("", f"{self.process.name} is told to stop")
        stage, process = self._stage, self.process
        stage.scheduler.spawn("signal", process, self._upkeep.drain)
        stage.kill_after(process, SIGKILL_SECONDS)
