"""`make bench`: a turn with one refund, by the bare loop, this service and the plain application.

All three run at the same time against the same stand-ins and take turns in being measured, round after
round. QUICK=1 measures one short round; WRITE=1 also writes docs/benchmarks.md. RESUME=1 puts this service
without checkpoints, leases and sweeps in the plain application's place, to tell what resuming costs.
"""

import os
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from tests.bench.contenders import (
    Contender,
    Surroundings,
    bare_loop,
    forgetful_service,
    plain_app,
    this_service,
)
from tests.bench.page import Conditions, page
from tests.bench.results import Measured, Results
from tests.bench.stand_ins import StandIns, stand_ins
from tests.bench.started import ROOT
from tests.bench.stores import empty_redis, fresh_database, versions
from tests.bench.usage import Watch, machine_cpu_ms, process_cpu_ms

WARM_UP_SECONDS = 1.0
WARM_UP_LEVEL = 20
PAGE = ROOT / "docs" / "benchmarks.md"


def _number(name: str, otherwise: int) -> int:
    return int(os.environ.get(name) or otherwise)  # noqa: TID251 - the benchmark's own switches


QUICK = bool(_number("QUICK", 0))
RESUME = bool(_number("RESUME", 0))
LEVELS = (20, 100) if RESUME else (1, 20, 100)
ROUNDS = _number("ROUNDS", 1 if QUICK else 15 if RESUME else 3)
"""With RESUME many: what is looked for is smaller than what two rounds differ by."""
SECONDS = _number("SECONDS", 2 if QUICK else 4)
"""How long each contender is driven at each concurrency in each round."""


def main() -> int:
    """Measure, print, and fail if a single turn failed or moved anything but its own money."""
    if not Path("/proc/self/smaps_rollup").exists():
        sys.exit("the benchmark reads CPU and memory from /proc: it needs Linux")
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        redis_url = stack.enter_context(empty_redis())
        outside = stack.enter_context(stand_ins(directory))
        given = Surroundings(
            model_url=outside.model_url,
            payments_url=outside.payments_url,
            redis_url=redis_url,
            worker_concurrency=_number("WORKER_CONCURRENCY", 100),
            plain_concurrency=_number("PLAIN_CONCURRENCY", 8),
            directory=directory,
        )
        contenders = _start_all(stack, given)
        results = _measure_all(contenders, outside)
        with fresh_database(directory) as database_url:
            stores = versions(database_url, redis_url(0))
    made = page(results, Conditions(ROUNDS, SECONDS, stores, given.worker_concurrency))
    sys.stdout.write(made)
    if _number("WRITE", 0) and not RESUME:
        PAGE.write_text(made)
    found = results.mistakes()
    sys.stderr.write("".join(f"MISTAKE {one}\n" for one in found[:20]))
    return 1 if found else 0


def _start_all(stack: ExitStack, given: Surroundings) -> list[Contender]:
    """Start all three at the same time: most of a start is importing, and there is more than one core."""
    starts = (bare_loop, this_service, forgetful_service if RESUME else plain_app)
    with ThreadPoolExecutor(len(starts)) as pool:
        return list(pool.map(lambda start: stack.enter_context(start(given)), starts))


def _measure_all(contenders: list[Contender], outside: StandIns) -> Results:
    results = Results({one.key: one.name for one in contenders})
    for contender in contenders:
        contender.drive(prefix=f"warm-{contender.key}", at_once=WARM_UP_LEVEL, seconds=WARM_UP_SECONDS)
    for number in range(1, ROUNDS + 1):
        for level in LEVELS:
            for contender in contenders:
                prefix = f"{contender.key}-{number}-{level}"
                measured = _measure(contender, outside, prefix=prefix, at_once=level)
                results.add(contender.key, level, measured)
                sys.stderr.write(
                    f"round {number}: ({contender.key}) {level} at once: {measured.turns} turns\n"
                )
    return results


def _measure(contender: Contender, outside: StandIns, *, prefix: str, at_once: int) -> Measured:
    outside.reset()
    roots = {**contender.roots, "stand-ins": outside.pid}
    before_ms = machine_cpu_ms() - process_cpu_ms()
    with Watch(roots, contender.client) as watch:
        driven = contender.drive(prefix=prefix, at_once=at_once, seconds=SECONDS)
    used_ms = machine_cpu_ms() - process_cpu_ms() - before_ms
    stand_ins_usage = watch.usage.pop("stand-ins")
    known_ms = stand_ins_usage.cpu_ms + sum(used.cpu_ms for used in watch.usage.values())
    return Measured(
        driven=driven,
        usage=watch.usage,
        redis_connections=watch.redis_connections,
        wrong_refunds=_wrong(outside.moved(), asked=len(driven.took_ms) + len(driven.errors), prefix=prefix),
        stand_ins_cpu_ms=stand_ins_usage.cpu_ms,
        others_busy=max(0.0, used_ms - known_ms) / watch.lasted_ms,
    )


def _wrong(moved: Counter[str], *, asked: int, prefix: str) -> int:
    """Count the turns whose money did not move exactly once, and money that moved for no turn."""
    expected = {f"{prefix}-{number}" for number in range(1, asked + 1)}
    return sum(moved[order] != 1 for order in expected) + sum(order not in expected for order in moved)


if __name__ == "__main__":
    sys.exit(main())
