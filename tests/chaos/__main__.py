"""`make chaos`: kill, stop, cut and freeze everything at every step of a turn, and count the money.

RUNS=3 runs each cell three times; CELLS=regex takes those whose "step / fault" matches; LANES=2 runs two
whole services side by side; WRITE=1 also writes docs/chaos.md. With TEST_DATABASE_URL and TEST_REDIS_URL it
runs on PostgreSQL and Redis, else on SQLite and an embedded Valkey, without the cells that cut the database.
"""

import itertools
import os
import queue
import random
import re
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tests.bench.stores import versions
from tests.chaos import report
from tests.chaos.faults import FAULTS
from tests.chaos.lane import Lane, open_lane
from tests.chaos.run import Result, close, run_cell
from tests.chaos.steps import NEED_POSTGRESQL, STEPS
from tests.conftest import DATABASE_SERVER

PAGE = Path(__file__).parents[2] / "docs" / "chaos.md"

Job: TypeAlias = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Found:
    """What all lanes found. `at_the_end`: what a lane's whole money has against its whole ledger."""

    results: list[Result] = field(default_factory=list)
    stores: list[str] = field(default_factory=list)
    at_the_end: list[str] = field(default_factory=list)


def _switch(name: str, otherwise: str) -> str:
    return os.environ.get(name) or otherwise  # noqa: TID251 - the run's own switches


def main() -> int:
    """Run the matrix, print the report, and fail if anything was untrue."""
    jobs = list(_jobs(runs=int(_switch("RUNS", "1")), cells=re.compile(_switch("CELLS", ""))))
    order = {job: number for number, job in enumerate(jobs)}
    random.Random(0).shuffle(jobs)
    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    found = Found()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        lanes = [
            threading.Thread(target=_work, args=(number, Path(folder), waiting, found))
            for number in range(min(int(_switch("LANES", "3")), len(jobs)))
        ]
        for lane in lanes:
            lane.start()
        try:
            for lane in lanes:
                lane.join()
        except KeyboardInterrupt:  # what runs ends, and what was found is reported
            _forget_all(waiting)
            for lane in lanes:
                lane.join()
    results = found.results
    results.sort(key=lambda result: order[result.step, result.fault, result.run])
    made = report.page(results, stores="".join(found.stores[:1]), seconds=time.monotonic() - started)
    breaches = [*report.breaches(results), *found.at_the_end]
    sys.stdout.write("\n".join([made, *breaches, ""]))
    if _switch("WRITE", "") and results:
        PAGE.write_text(made)
    return 1 if breaches or len(results) < len(jobs) else 0


def _forget_all(jobs: "queue.SimpleQueue[Job]") -> None:
    with suppress(queue.Empty):
        while True:
            jobs.get_nowait()


def _jobs(*, runs: int, cells: re.Pattern[str]) -> Iterator[Job]:
    for step in STEPS:
        for name, fault in FAULTS.items():
            on_postgresql = fault.needs_postgresql or step in NEED_POSTGRESQL
            possible = step in fault.at and (DATABASE_SERVER or not on_postgresql)
            if possible and cells.search(f"{step} / {name}"):
                yield from ((step, name, run) for run in range(runs))


def _work(number: int, folder: Path, jobs: "queue.SimpleQueue[Job]", found: Found) -> None:
    """Run jobs in one lane until there are none; after a run that says nothing, in a new one."""
    lives = itertools.count()
    while not jobs.empty():
        with open_lane(number, folder=folder / f"lane-{number}-{next(lives)}") as lane:
            url = lane.database.engine.url.render_as_string(hide_password=False)
            found.stores.append(versions(url, lane.broker.url))
            _run_until_one_breaks(lane, jobs, found.results)
            try:
                found.at_the_end.extend(close(lane))
            except Exception:  # noqa: BLE001 - one broken lane must not end the others
                found.at_the_end.append(f"a lane did not come to its end: {traceback.format_exc()}")


def _run_until_one_breaks(lane: Lane, jobs: "queue.SimpleQueue[Job]", results: list[Result]) -> None:
    broken = False
    while not broken:
        try:
            step, fault, run = jobs.get_nowait()
        except queue.Empty:
            return
        started = time.monotonic()
        try:
            result = run_cell(lane, step, fault, run=run)
        except Exception:  # noqa: BLE001 - one broken run must not end the others
            broke = ("the run itself broke", traceback.format_exc())
            result = Result(step, fault, run, time.monotonic() - started, objections=broke)
        results.append(result)
        sys.stderr.write(report.line(result) + "\n")
        broken = result.missed


if __name__ == "__main__":
    sys.exit(main())
