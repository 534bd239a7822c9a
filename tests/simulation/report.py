"""What a run prints: what was run, what really went wrong, how turns ended, and what was checked."""

from collections import Counter

from tests.simulation.episodes import Failure, Result, Simulation
from tests.simulation.faults import KINDS, Tally
from tests.simulation.guards_all import GUARDS
from tests.simulation.trace import Trace

REFUND_STATES = ("closed", "paid", "rejected", "not_sent", "unknown")
ALWAYS_FALSE = frozenset(
    {"the core raises nothing", "no row is ever deleted", "what became of an approved refund is told"}
)
"""Invariants that are looked at only when they are broken."""


def summary(result: Result, *, seed: int, seconds: float) -> str:
    """Return the report of a whole run."""
    tally = result.tally
    per_second = result.turns / seconds if seconds else 0.0
    never = missing(tally)
    parts = [
        f"seed {seed}: {result.turns:,} turns in {result.episodes:,} episodes",
        f"{seconds:.1f} s, {per_second:,.0f} turns/s",
        _section("faults injected", tally.faults),
        f"  never happened: {', '.join(never)}" if never else "  everything happened",
        _section("what the model did", tally.model),
        _section("what payments did", tally.payments),
        _section("how turns ended", tally.endings),
        _section("what the ledger says of their refunds", tally.refunds),
        _section("what callers were told", tally.told),
        _section("invariants checked", tally.checks),
        f"breaches: {len(result.failures)}",
    ]
    return "\n".join(parts)


def missing(tally: Tally) -> list[str]:
    """Name what never happened: a run that tried too little proves too little."""
    invariants = {name for guard in GUARDS for name in guard.caught_by}
    return [
        *(kind for kind in KINDS if not tally.faults[kind]),
        *(f"a refund that is {state}" for state in REFUND_STATES if not tally.refunds[state]),
        *(f"a look whether {name}" for name in sorted(invariants - ALWAYS_FALSE) if not tally.checks[name]),
    ]


def failure(failed: Failure) -> str:
    """Replay a failing episode and return the story of the turn in which it failed."""
    trace = Trace()
    simulation = Simulation(failed.seed)
    simulation.episode(failed.episode, Tally(), trace)
    simulation.close()
    lines = trace.of(failed.breach.turn_id)
    return "\n".join(
        [
            f"BREACH in episode {failed.episode} of seed {failed.seed}: {failed.breach.invariant}",
            f"  {failed.breach.turn_id}: {failed.breach.text}",
            *map(str, lines),
            f"see it again: make simulate SEED={failed.seed} EPISODE={failed.episode}",
        ]
    )


def _section(title: str, counter: Counter[str]) -> str:
    rows = [f"  {count:>12,}  {name}" for name, count in sorted(counter.items())]
    return "\n".join([f"{title}:", *rows])
