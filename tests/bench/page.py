"""The page of docs/benchmarks.md: what was compared, on what, and what came out."""

import os
import platform
import time
from dataclasses import dataclass
from importlib.metadata import version
from string import Template

from tests.bench.report import tables
from tests.bench.results import Results
from tests.bench.stand_ins import MODEL_DELAY_SECONDS, PAYMENTS_DELAY_SECONDS

PACKAGES = (
    *("celery", "kombu", "redis", "flask", "gunicorn", "openai", "httpx", "requests", "SQLAlchemy"),
    "psycopg",
)

_PAGE = Template("""\
# Benchmarks

Made by `make bench WRITE=1` on $date: $rounds rounds of $seconds s each, medians over the rounds (a ratio
is of two in the same round), peaks over all. $cores cores shared by everything ($machine), CPython $python,
$stores;
$packages.

A turn is one refund: two completions of $model_ms ms and one payments call of $payments_ms ms, so nothing can
answer before $least_ms ms. Callers ask again as soon as they are answered, over kept connections.

- (a) makes the service's own openai and requests calls in threads of one process: the limit.
- (b) is gunicorn and one Celery worker process, by the lines of the Procfile, for $turns turns at once.
- (c) is `tests/bench/plain_app.py`: no database, no ledger, no deadline, Celery's default settings.
- (d), with RESUME=1 in the place of (c), is (b) without checkpoints, leases and sweeps.

All three are up during the whole run and are measured in turn, against the same stand-ins.
$answered turns were answered; turns that failed, or whose money did not move exactly once: $mistakes.

$tables
""")


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a run was made under."""

    rounds: int
    seconds: int
    stores: str
    worker_concurrency: int


def page(results: Results, conditions: Conditions) -> str:
    """Return the whole page as Markdown."""
    return _PAGE.substitute(
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        rounds=conditions.rounds,
        seconds=conditions.seconds,
        cores=os.cpu_count(),
        machine=platform.machine(),
        python=platform.python_version(),
        stores=conditions.stores,
        packages=", ".join(f"{name} {version(name)}" for name in PACKAGES),
        model_ms=round(MODEL_DELAY_SECONDS * 1000),
        payments_ms=round(PAYMENTS_DELAY_SECONDS * 1000),
        least_ms=round((2 * MODEL_DELAY_SECONDS + PAYMENTS_DELAY_SECONDS) * 1000),
        turns=conditions.worker_concurrency,
        answered=sum(one.turns for one in results.every()),
        mistakes=len(results.mistakes()),
        tables=tables(results),
    )
