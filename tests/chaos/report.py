"""Turns the results of a chaos run into Markdown."""

import platform
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import version

from tests.chaos.run import Result

LIBRARIES = ("celery", "kombu", "redis", "gunicorn", "SQLAlchemy")

TOP = """# The kill matrix

`make chaos WRITE=1` wrote this page. Each cell brings one customer's turn to one step and lets one fault
strike there. Web, two workers, database and Redis are real processes; the model and payments are stand-ins
that say when a request has arrived, so that no moment is guessed. Payments counts the money in the end.
Outages last from half a second to six. `Redis restarted` loses all that it held: an embedded one ends and
starts again, on a shared server its connections are cut and its database is emptied.

- **told**: what the waiting caller was answered (`connection broke`: its web process had been killed), and
  after `;` what a retry with the same `Idempotency-Key` was answered.
- **true**: paid means moved exactly once; nothing, rejected and not sent mean not moved and never will be;
  unknown is allowed. It also means that every refund request that arrived has its ledger row, that every
  turn ended by its deadline, that a caller whose web lived was answered, and so were a retry and a question
  about each turn, that no completion was made without being counted, and that what got SIGTERM ended with
  0. In the end all the money that moved is held against the whole ledger.
- **money**: how often it moved, in how many runs.
- **slowest**: the longest that a waiting caller waited, in seconds.
"""


def page(results: Sequence[Result], *, stores: str, seconds: float) -> str:
    """Return the whole report."""
    return "\n".join([TOP, _conditions(stores, seconds), "", summary(results), "", *_table(results), ""])


def summary(results: Sequence[Result]) -> str:
    """Return one line with the figures that matter."""
    done = [result.evidence for result in results if result.evidence]
    cells = len({(result.step, result.fault) for result in results})
    untrue = sum(bool(result.objections) for result in results)
    twice = sum(evidence.movements > 1 for evidence in done)
    moved = sum(evidence.movements == 1 for evidence in done)
    unknown = sum("unknown" in evidence.gates.values() for evidence in done)
    missed = sum(result.missed for result in results)
    return (
        f"**{cells} cells, {len(results)} runs: {untrue} untrue, money moved twice in {twice}**; "
        f"it moved once in {moved}, its outcome is unknown in {unknown}; {missed} missed their step."
    )


def breaches(results: Sequence[Result]) -> list[str]:
    """Return a line for every broken promise, and for every run that says nothing."""
    return [
        f"{result.step} / {result.fault} / run {result.run}: "
        f"{'; '.join(result.objections) or 'missed its step'} ({'; '.join(result.notes)})"
        for result in results
        if result.objections or result.missed
    ]


def line(result: Result) -> str:
    """Describe one run while it goes on."""
    told = _told(result)
    exits = result.evidence.exit_codes if result.evidence else ()
    notes = "".join(f"  [{note}]" for note in (*result.notes, *(f"exit code {code}" for code in exits)))
    verdict = "UNTRUE: " + "; ".join(result.objections) if result.objections else "true"
    if result.missed:
        verdict = "MISSED"
    return f"{result.seconds:5.1f} s  {result.step:<13} {result.fault:<32} {told:<40} {verdict}{notes}"


def _conditions(stores: str, seconds: float) -> str:
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return (
        f"Measured on {time.strftime('%Y-%m-%d')}: CPython {platform.python_version()}, {libraries}, "
        f"{stores}; {seconds / 60:.0f} minutes."
    )


def _table(results: Sequence[Result]) -> Iterator[str]:
    yield "| step | fault | runs | told | true | money | slowest |"
    yield "|---|---|--:|---|---|---|--:|"
    for step, fault in dict.fromkeys((result.step, result.fault) for result in results):
        runs = [result for result in results if (result.step, result.fault) == (step, fault)]
        told = Counter(_told(result) for result in runs)
        true = "**NO**" if any(result.objections or result.missed for result in runs) else "yes"
        money = Counter(result.evidence.movements for result in runs if result.evidence)
        slowest = max((result.evidence.first.seconds for result in runs if result.evidence), default=0.0)
        yield (
            f"| {step} | {fault} | {len(runs)} | {_counted(told)} | {true} "
            f"| {_counted(Counter({f'{times}x': count for times, count in money.items()}))} | {slowest:.1f} |"
        )


def _told(result: Result) -> str:
    if result.evidence is None:
        return "-"
    return f"{result.evidence.first}; {result.evidence.later[0]}"


def _counted(counter: Counter[str]) -> str:
    if len(counter) == 1:
        return next(iter(counter))
    return ", ".join(f"{what} ({count})" for what, count in sorted(counter.items()))
