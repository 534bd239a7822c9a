"""One cell of the kill matrix: one customer's request, one step of its turn, one fault that strikes there."""

import random
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from sandbox.processes import Process
from tests.chaos.caller import Told, ask
from tests.chaos.hold import NotReached
from tests.chaos.lane import Lane, Row
from tests.functional.stand import wait_until

PATIENCE_SECONDS = 20.0


@dataclass
class Cell:
    """A request on its way. Every cell has an order of its own, by which its money is counted."""

    lane: Lane
    order_id: str
    chance: random.Random
    pool: ThreadPoolExecutor
    web_dies: bool = False
    outage_seconds: float = 0.0
    exits: "list[Future[int]]" = field(default_factory=list)
    """The exit codes of processes that were told to stop by SIGTERM, once they have ended."""

    def ask_soon(self) -> "Future[Told]":
        """Ask from another thread, always with the same key."""
        return self.pool.submit(ask, self.lane.url, key=self.order_id, order_id=self.order_id)

    def turn(self) -> Row:
        """Return the newest turn of this cell."""
        return self.lane.turns_of(self.order_id)[-1]

    def state(self) -> str:
        """Return the newest turn's state; empty while there is none."""
        found = self.lane.turns_of(self.order_id)
        return found[-1]["state"] if found else ""

    def gate(self) -> str:
        """Return the state of the newest turn's ledger row; empty while there is none."""
        found = self.lane.turns_of(self.order_id)
        row = self.lane.gate(found[-1]["id"]) if found else None
        return row["state"] if row else ""

    def has_ended(self) -> bool:
        """Whether every turn of this cell has ended, and none has a claim open."""
        found = self.lane.turns_of(self.order_id)
        return all(turn["state"] == "ended" for turn in found) and all(
            row is None or row["state"] != "claimed" for row in (self.lane.gate(turn["id"]) for turn in found)
        )

    def is_at_work(self) -> bool:
        """Whether a living worker has received a turn of this cell and is not done, by what it logged."""
        turn_ids = [turn["id"] for turn in self.lane.turns_of(self.order_id)]
        logs = [
            worker.log.read_text("utf-8", "replace") for worker in self.lane.workers if worker.is_running()
        ]
        return any(
            log.count(f"turns.run[{turn_id}] received") > log.count(f"turns.run[{turn_id}] succeeded")
            for log in logs
            for turn_id in turn_ids
        )

    def owners(self) -> list[Process]:
        """Return the worker that has the turn; all of them while none has."""
        turn = self.turn()
        if turn["state"] != "running":
            return list(self.lane.workers)
        word = f"turns.run[{turn['id']}] received"
        return [worker for worker in self.lane.workers if word in worker.log.read_text("utf-8", "replace")]

    def wait_for_state(self, *states: str) -> None:
        """Wait until the turn is in one of these states."""
        _await(lambda: self.state() in states, f"no turn became {' or '.join(states)}")

    def wait_for_gate(self, state: str) -> None:
        """Wait until the ledger row is in this state."""
        _await(lambda: self.gate() == state, f"no refund became {state}")

    def wait_for_queue(self, length: int) -> None:
        """Wait until so many messages are queued."""
        _await(lambda: self.lane.queue_length() == length, f"the queue never had {length} messages")


def _await(holds: Callable[[], bool], what: str) -> None:
    try:
        wait_until(holds, seconds=PATIENCE_SECONDS)
    except AssertionError as error:
        raise NotReached(what) from error
