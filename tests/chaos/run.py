"""Runs one cell: prepare the step, ask, wait until the turn is there, strike, let go, mend, and look."""

import random
import time
import uuid
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from tests.chaos.caller import Told, look
from tests.chaos.cell import Cell
from tests.chaos.faults import FAULTS, Fault
from tests.chaos.hold import NotReached
from tests.chaos.judge import Evidence, objections, unaccounted
from tests.chaos.lane import DEADLINE_SECONDS, Lane
from tests.chaos.steps import STEPS, Step
from tests.functional.stand import wait_until

QUIET_SECONDS = DEADLINE_SECONDS + 60.0
JITTER_SECONDS = 0.3
TRIES = 3
THREADS = 8


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one run of one cell. `missed`: the turn could not be brought to the step."""

    step: str
    fault: str
    run: int
    seconds: float
    evidence: Evidence | None = None
    objections: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def missed(self) -> bool:
        return self.evidence is None


def run_cell(lane: Lane, step: str, fault: str, *, run: int) -> Result:
    """Run one cell; one that misses its step is tried again, for it says nothing."""
    started = time.monotonic()
    why: tuple[str, ...] = ()
    for attempt in range(TRIES):
        chance = random.Random(f"{step}/{fault}/{run}/{attempt}")
        with ThreadPoolExecutor(THREADS) as pool:
            cell = Cell(lane, f"order-{uuid.uuid4().hex[:12]}", chance, pool)
            try:
                evidence = _gather(cell, STEPS[step], FAULTS[fault], jitter=run > 0)
            except NotReached as missed:
                why = (*why, str(missed))
                _mend(lane)
                continue
        seconds = time.monotonic() - started
        found = tuple(objections(evidence))
        return Result(step, fault, run, seconds, evidence, found, why)
    return Result(step, fault, run, time.monotonic() - started, notes=why)


def _gather(cell: Cell, step: Step, fault: Fault, *, jitter: bool) -> Evidence:
    lane = cell.lane
    lane.make_whole()
    lane.payments.forget_holds()
    lane.model.forget_holds()
    steps, strike = step(cell), fault.strike(cell)
    next(steps)
    waiting = cell.ask_soon()
    try:
        next(steps)
        if jitter:
            time.sleep(cell.chance.uniform(0, JITTER_SECONDS))  # noqa: TID251 - to strike at other moments, too
        next(strike)
        if not fault.holds_on:
            _finish(steps)
        _finish(strike)
        first = waiting.result()
    finally:
        _finish(steps)
    retried = _retry(cell)
    _wait_until_quiet(cell)
    return _evidence(cell, first, retried)


def close(lane: Lane) -> list[str]:
    """Let everything come to its end, stop all processes, and hold all of payments against the whole ledger.

    What a worker sends after its cell was judged is found here.
    """
    _mend(lane)
    lane.payments.forget_holds()
    lane.model.forget_holds()
    lane.make_whole()  # only living workers end what dead ones have left
    with suppress(AssertionError):  # what is claimed for ever, and paid, is found below
        wait_until(lane.is_quiet, seconds=QUIET_SECONDS)
    lane.stop_all()
    return unaccounted(lane.payments.moved, lane.ledger())


def _retry(cell: Cell) -> Told:
    """Send the request again with the same key, as a careful portal does; it may be another web by now."""
    wait_until(lambda: _is_answered(cell.lane.url), seconds=QUIET_SECONDS)
    return cell.ask_soon().result()


def _is_answered(url: str) -> bool:
    with suppress(OSError):
        return look(url, str(uuid.uuid4())).status > 0
    return False


def _wait_until_quiet(cell: Cell) -> None:
    """Wait for every turn, and for every worker that may still act on one, as a woken one may."""
    with suppress(AssertionError):  # what is not quiet then is an objection
        wait_until(cell.has_ended, seconds=QUIET_SECONDS)
        wait_until(lambda: not cell.is_at_work(), seconds=QUIET_SECONDS)


def _evidence(cell: Cell, first: Told, retried: Told) -> Evidence:
    lane = cell.lane
    exit_codes = tuple(future.result() for future in cell.exits)
    turns = lane.turns_of(cell.order_id)
    rows = {turn["id"]: lane.gate(turn["id"]) for turn in turns}
    asked = [look(lane.url, turn_id) for turn_id in rows]
    return Evidence(
        first=first,
        later=(retried, *asked),
        turns=tuple(turns),
        gates={turn_id: row["state"] if row else "" for turn_id, row in rows.items()},
        made={turn_id: lane.model.made[turn_id] for turn_id in rows},
        movements=lane.payments.movements(cell.order_id),
        posts=lane.payments.posts(cell.order_id),
        web_died=cell.web_dies,
        outage_seconds=cell.outage_seconds,
        exit_codes=exit_codes,
        is_at_work=cell.is_at_work(),
    )


def _finish(steps: Generator[None]) -> None:
    """Run what is left of a generator."""
    for _ in steps:
        pass


def _mend(lane: Lane) -> None:
    """Take every block away after a step was missed."""
    for way in lane.ways():
        way.clear("step")
        way.clear("fault")
