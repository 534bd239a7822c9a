"""What strikes. A fault is a generator: it strikes, and after the `yield` it is mended as in life.

Between the two the step lets the turn go on. A platform starts a process in place of one that has ended,
and sends SIGKILL 30 s after SIGTERM.
"""

import signal
import threading
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from sandbox.processes import Process
from tests.chaos.cell import Cell
from tests.chaos.lane import LEASE_SECONDS
from tests.chaos.outside import LAST
from tests.chaos.steps import HELD_FOR_LONG, STEPS
from tests.chaos.way import How, Way
from tests.functional.stand import wait_until

GRACE_SECONDS = 30.0
SHORT_GRACE_SECONDS = 2.0
"""After SIGQUIT: a turn's deadline would pass in the whole one, and nothing is handed over meanwhile."""
SHORTEST_OUTAGE_SECONDS, LONGEST_OUTAGE_SECONDS = 0.5, 6.0

Strike: TypeAlias = Callable[[Cell], Generator[None]]


@dataclass(frozen=True, slots=True)
class Fault:
    """`holds_on`: the outside service is silent until the caller is answered, so no turn can finish here."""

    strike: Strike
    at: tuple[str, ...] = tuple(STEPS)
    holds_on: bool = False
    needs_postgresql: bool = False


def kill_worker(cell: Cell) -> Generator[None]:
    """SIGKILL the worker that has the turn; both where none has it."""
    for worker in cell.owners():
        worker.kill()
    yield
    cell.lane.start_worker()


def kill_worker_twice(cell: Cell) -> Generator[None]:
    """SIGKILL the worker that has the turn, and the one that takes it over in its last completion."""
    hold = cell.lane.model.hold(LAST)
    yield from kill_worker(cell)
    _wait_at_most(hold.arrived.is_set, 5 * LEASE_SECONDS)
    yield from kill_worker(cell)
    hold.release()


def pause_worker(cell: Cell) -> Generator[None]:
    """SIGSTOP the worker past its lease, and let it go on when another has done what it could.

    What it does then is waited for before anything is judged: see `run.py`.
    """
    owners, epoch = cell.owners(), cell.turn()["epoch"]
    for worker in owners:
        cell.lane.pause(worker)
    yield

    def was_taken_over() -> bool:
        return cell.turn()["epoch"] > epoch + 1 or cell.state() == "ended"

    _wait_at_most(was_taken_over, 3 * LEASE_SECONDS)
    for worker in owners:
        worker.send(signal.SIGCONT)


def stop_worker(cell: Cell) -> Generator[None]:
    """SIGTERM to every process of the worker; SIGKILL 30 s later."""
    yield from _stop(cell, cell.owners(), replace=cell.lane.start_worker)


def quit_worker(cell: Cell, *, grace_seconds: float = GRACE_SECONDS) -> Generator[None]:
    """SIGQUIT to every process of the worker, Celery's cold stop; SIGKILL to what has not ended in time.

    Threads cannot be stopped cold: Celery fails in it, waits for what runs, and ends with 1.
    """
    owners = cell.owners()
    for worker in owners:
        worker.send(signal.SIGQUIT)
    yield
    cell.lane.start_worker()
    for worker in owners:
        _exit_code(worker, grace_seconds)


def kill_web(cell: Cell) -> Generator[None]:
    """SIGKILL the web that waits."""
    cell.web_dies = True
    cell.lane.web.kill()
    yield
    cell.lane.start_web()


def stop_web(cell: Cell) -> Generator[None]:
    """SIGTERM to every process of the web that waits; SIGKILL 30 s later."""
    yield from _stop(cell, [cell.lane.web], replace=cell.lane.start_web)


def kill_all(cell: Cell) -> Generator[None]:
    """SIGKILL every process of the service at once."""
    cell.web_dies = True
    cell.lane.kill_all()
    yield
    cell.lane.start_web()
    cell.lane.start_worker()


def lose_redis(cell: Cell) -> Generator[None]:
    """Redis ends with all that it held, and comes back empty."""
    ways = cell.lane.ways_to_redis
    for way in ways:
        way.block("fault", "cut")
    cell.lane.broker.vanish()
    yield
    _outlast(cell)
    cell.lane.broker.come_back()
    for way in ways:
        way.clear("fault")


def _blocks(how: How, which: Callable[[Cell], Iterable[Way | None]]) -> Strike:
    def strike(cell: Cell) -> Generator[None]:
        ways = [way for way in which(cell) if way is not None]
        for way in ways:
            way.block("fault", how)
        yield
        _outlast(cell)
        for way in ways:
            way.clear("fault")

    return strike


def _stop(
    cell: Cell,
    processes: list[Process],
    *,
    replace: Callable[[], None],
) -> Generator[None]:
    for process in processes:
        process.send(signal.SIGTERM)
    yield
    replace()
    cell.exits.extend(cell.pool.submit(_exit_code, process, GRACE_SECONDS) for process in processes)


def _exit_code(process: Process, grace_seconds: float) -> int:
    """Wait for a process that was told to stop, and kill it as a platform does."""
    if not process.wait(grace_seconds):
        process.kill()
    return process.exit_code or 0


def _outlast(cell: Cell) -> None:
    """Let the outage last for a while, drawn anew in every run."""
    cell.outage_seconds = cell.chance.uniform(SHORTEST_OUTAGE_SECONDS, LONGEST_OUTAGE_SECONDS)
    threading.Event().wait(cell.outage_seconds)


def _wait_at_most(holds: Callable[[], bool], seconds: float) -> None:
    try:
        wait_until(holds, seconds=seconds)
    except AssertionError:
        return


def _redis(cell: Cell) -> Iterable[Way | None]:
    return cell.lane.ways_to_redis


def _database(cell: Cell) -> Iterable[Way | None]:
    return [cell.lane.way_to_database]


def _kill_while_away(which: Callable[[Cell], Iterable[Way | None]]) -> Strike:
    """SIGKILL the worker that has the turn; then another system is away when the turn has to be saved."""

    def strike(cell: Cell) -> Generator[None]:
        killing, blocking = kill_worker(cell), _blocks("cut", which)(cell)
        next(killing)
        next(blocking)
        yield
        for part in (killing, blocking):
            for _ in part:
                pass

    return strike


FAULTS: dict[str, Fault] = {
    "worker SIGKILL": Fault(kill_worker),
    "worker SIGKILL, the next one too": Fault(kill_worker_twice),
    "worker SIGKILL, Redis away": Fault(_kill_while_away(_redis)),
    "worker SIGKILL, database away": Fault(_kill_while_away(_database), needs_postgresql=True),
    "worker SIGSTOP past its lease": Fault(pause_worker),
    "worker SIGTERM": Fault(stop_worker),
    "worker SIGTERM, turn cannot finish": Fault(stop_worker, at=HELD_FOR_LONG, holds_on=True),
    "worker SIGQUIT": Fault(quit_worker),
    "worker SIGQUIT, turn cannot finish": Fault(
        partial(quit_worker, grace_seconds=SHORT_GRACE_SECONDS), at=HELD_FOR_LONG, holds_on=True
    ),
    "web SIGKILL": Fault(kill_web),
    "web SIGTERM": Fault(stop_web),
    "web SIGTERM, turn cannot finish": Fault(stop_web, at=HELD_FOR_LONG, holds_on=True),
    "all SIGKILL": Fault(kill_all),
    "Redis cut": Fault(_blocks("cut", _redis)),
    "Redis frozen": Fault(_blocks("frozen", _redis)),
    "Redis restarted": Fault(lose_redis),
    "database cut": Fault(_blocks("cut", _database), needs_postgresql=True),
    "database frozen": Fault(_blocks("frozen", _database), needs_postgresql=True),
    "payments cut": Fault(_blocks("cut", lambda c: [c.lane.way_to_payments])),
    "provider cut": Fault(_blocks("cut", lambda c: [c.lane.way_to_provider])),
}
