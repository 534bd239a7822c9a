"""The clock of one process."""

from tests.simulation.scheduler import Process
from tests.simulation.stage import Stage
from tests.simulation.witness import Witness


class ProcessClock:
    """Implements the port `Clock` for one process: it runs like the world's, from another start."""

    def __init__(self, stage: Stage, process: Process, witness: Witness) -> None:
        self._stage = stage
        self._process = process
        self._witness = witness

    def monotonic(self) -> float:
        """Read the clock; what the actor decides next is as old as this."""
        now = self._stage.scheduler.now
        self._stage.scheduler.me().read_clock_at = now
        return now + self._process.clock_offset

    def sleep(self, seconds: float) -> None:
        """Let others run for this long."""
        actor = self._stage.scheduler.me()
        if actor.turn is not None and actor.turn.attempts > 1:
            self._witness.second_attempt_begins(actor.turn.id, actor.turn.attempts)
        self._stage.scheduler.pause(seconds)
        self._stage.step("after a sleep")
