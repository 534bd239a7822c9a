"""Web processes: their facade, and the room where their requests wait."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from refund_agent.ports import StoreUnavailable
from refund_agent.turn import NewTurn
from tests.simulation.clocks import ProcessClock
from tests.simulation.core import Core
from tests.simulation.lives import Life
from tests.simulation.scheduler import Actor, Process
from tests.simulation.stage import SIGKILL_SECONDS, Stage
from tests.simulation.witness import Witness

LOOK_SECONDS = 1.0


class Caller(Protocol):
    """Who sent a request."""

    def answered(self, told: str) -> None:
        """Get the answer."""

    def cut_off(self) -> None:
        """Lose the connection: the web process is gone."""


class Seat:
    """Implements the port `Seat`."""

    def __init__(self, stage: Stage, actor: Actor) -> None:
        self._stage = stage
        self.actor = actor

    def wait(self, seconds: float) -> None:
        """Sleep until somebody says that the turn has ended, or the time is over."""
        self._stage.scheduler.park(seconds)
        self._stage.step("after waking up")


class WebProcess:
    """A web process: its facade, and the room where its requests wait."""

    def __init__(self, stage: Stage, process: Process, core: Core, witness: Witness) -> None:
        self._stage = stage
        self.process = process
        self._witness = witness
        clock = ProcessClock(stage, process, witness)
        self._turns = core.turns(clock)
        self._facade = core.facade(turns=self._turns, waiting_room=self, clock=clock)
        self._seats: dict[str, list[Seat]] = {}
        self.callers: list[Caller] = []

    @contextmanager
    def seat(self, turn_id: str) -> Iterator[Seat]:
        """Implement the port `WaitingRoom`."""
        seat = Seat(self._stage, self._stage.scheduler.me())
        self._seats.setdefault(turn_id, []).append(seat)
        try:
            yield seat
        finally:
            self._seats[turn_id].remove(seat)
            if not self._seats[turn_id]:
                del self._seats[turn_id]

    @property
    def closing(self) -> bool:
        """Whether the process was told to stop."""
        return self.process.is_stopping

    def wake(self, turn_id: str) -> None:
        """Hear that a turn has ended."""
        if self.process.is_alive:
            for seat in self._seats.get(turn_id, ()):
                self._stage.scheduler.wake(seat.actor)

    def look(self) -> None:
        """Ask SQL about once a second which of the waited-for turns have ended: an actor for ever."""
        while self.process.is_alive:
            self._stage.scheduler.pause(LOOK_SECONDS)
            if self._seats:
                try:
                    ended = self._turns.ended(list(self._seats))
                except StoreUnavailable:
                    continue
                for turn_id in sorted(ended):
                    self.wake(turn_id)

    def ask(self, life: Life, caller: Caller, *, waits: bool) -> None:
        """Begin one request."""
        self.callers.append(caller)
        self._stage.scheduler.spawn("request", self.process, lambda: self._ask(life, caller, waits=waits))

    def stop(self) -> None:
        """Get SIGTERM: waiting requests are answered, and nobody may wait any longer."""
        self.process.is_stopping = True
        self._stage.note_for("", f"{self.process.name} is told to stop")
        for turn_id in list(self._seats):
            self.wake(turn_id)
        self._stage.kill_after(self.process, SIGKILL_SECONDS)

    def _ask(self, life: Life, caller: Caller, *, waits: bool) -> None:
        actor = self._stage.scheduler.me()
        actor.turn_id, began = life.id, self._stage.scheduler.now
        life.asked_at = actor.began_at = began
        frozen_before = self.process.frozen_seconds
        try:
            answer = self._send(life, caller, self._facade.ask if waits else self._facade.start)
        except Exception as error:  # noqa: BLE001 - whatever comes out here is a 500 to the portal
            self._witness.raised(life.id, "facade", error)
            return
        stalled = actor.stalled_seconds + self.process.frozen_seconds - frozen_before
        seconds = self._stage.scheduler.now - began - stalled
        told = self._witness.told(life, answer, seconds=seconds, store_failed=actor.store_failures > 0)
        self.callers.remove(caller)
        caller.answered(told)

    def _send(self, life: Life, caller: Caller, ask: Callable[[NewTurn], object]) -> object:
        """Ask for one turn, as the route does."""
        del caller
        return ask(NewTurn(life.id, "user-1", life.message, "request-1", life.key, life.fingerprint))
