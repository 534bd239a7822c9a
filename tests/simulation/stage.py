"""What every simulated thing stands on: the time, the dice, the log, and the step at which faults strike."""

import random
from collections.abc import Mapping
from dataclasses import dataclass

from tests.simulation.faults import Faults, Tally
from tests.simulation.scheduler import Killed, Process, Scheduler
from tests.simulation.trace import Trace

STEP_SECONDS = 0.004
STEP_FAULTS = {
    (kind, is_upkeep): (
        *("step slow", "upkeep stuck" if is_upkeep else "thread stuck"),
        *(f"{kind} frozen", f"{kind} killed"),
    )
    for kind in ("worker", "web")
    for is_upkeep in (True, False)
}
"""What may happen at each step, by the kind of the process and whether it is its upkeep's step."""
SIGKILL_SECONDS = 30.0
"""How long after SIGTERM a platform kills what is still there."""


@dataclass
class Breach:
    """An invariant that does not hold."""

    invariant: str
    turn_id: str
    text: str


class Stage:
    """One episode's stage; the database outlives it and is handed from one to the next."""

    def __init__(
        self, rng: random.Random, tally: Tally, trace: Trace | None, often: Mapping[str, float]
    ) -> None:
        self.rng = rng
        self.tally = tally
        self.trace = trace
        self.scheduler = Scheduler(rng)
        self.faults = Faults(rng, tally.faults, often)
        self.breaches: list[Breach] = []
        self.world = Process("the world", kind="world")
        self.workers: list[Process] = []

    def step(self, what: str) -> None:
        """Let the world turn before or after what the current actor does; it may not survive it."""
        actor = self.scheduler.me()
        process = actor.process
        if not process.is_alive:
            raise Killed
        if process.kind != "world":
            self._strike(process, what)
        self.scheduler.pause(self.rng.random() * STEP_SECONDS)

    def _strike(self, process: Process, what: str) -> None:
        faults = self.faults
        match faults.strike_one_of(STEP_FAULTS[process.kind, self.scheduler.me().name == "upkeep"]):
            case "":
                return
            case "step slow":
                self.trouble(faults.seconds(0.05, 6.0))
            case "thread stuck" | "upkeep stuck":
                seconds = faults.seconds(5.0, 60.0)
                self.note(f"STUCK {what} for {seconds:.1f} s")
                self.trouble(seconds)
            case "worker frozen" | "web frozen":
                seconds = faults.seconds(0.5, 90.0)
                self.note(f"FROZEN {what} for {seconds:.1f} s")
                self.scheduler.freeze(process, seconds)
            case _:
                self.note(f"KILLED {what}")
                self.kill(process)
                raise Killed

    def kill(self, process: Process) -> None:
        """End a process, as SIGKILL does."""
        self.note_for("", f"{process.name} is gone")
        self.scheduler.kill(process)

    def kill_after(self, process: Process, seconds: float) -> None:
        """End a process in a while, if it is still there."""

        def kill() -> None:
            if process.is_alive:
                self.kill(process)

        self.scheduler.at(self.scheduler.now + seconds, kill)

    def trouble(self, seconds: float) -> None:
        """Keep the current actor waiting for longer than it should have to."""
        actor = self.scheduler.me()
        actor.stalled_seconds += seconds
        if actor.name == "upkeep":  # who keeps the leases; the other threads' troubles are their own
            actor.process.troubled_at = max(actor.process.troubled_at, self.scheduler.now + seconds)
        self.scheduler.pause(seconds)

    def note(self, text: str) -> None:
        """Write a line about what the current actor does."""
        if self.trace is not None:
            actor = self.scheduler.current
            self.note_for(actor.turn_id if actor else "", text)

    def note_for(self, turn_id: str, text: str) -> None:
        """Write a line about a turn, or about whole processes when `turn_id` is empty."""
        if self.trace is not None:
            actor = self.scheduler.current
            who = f"{actor.process.name}/{actor.name}" if actor else "world"
            self.trace.add(self.scheduler.now, who, turn_id, text)

    def breach(self, invariant: str, turn_id: str, text: str) -> None:
        """Report a broken invariant; the episode stops at the next step."""
        self.breaches.append(Breach(invariant, turn_id, text))
        self.scheduler.stopped = True
        self.note_for(turn_id, f"BREACH {invariant}: {text}")
