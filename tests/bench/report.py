"""Turns results into the Markdown of docs/benchmarks.md."""

from collections.abc import Iterator, Sequence
from statistics import median

from tests.bench.results import Results, cpu_ms, percentile, pss_mb, rss_mb

SERVICE, LIMIT, FORGETFUL = "b", "a", "d"
ROLES = ("web", "worker")

AIM_LEVEL, FULL_LEVEL = 20, 100
AIM_LATENCY = 1.10
AIM_CPU_MS = 25.0
AIM_WORKER_MB = 300.0
AIM_CONNECTIONS = 20
AIM_RESUME = 1.10


def tables(results: Results) -> str:
    """Return latency and CPU by concurrency, memory and connections at the highest, and the aims."""
    parts = [_rows(_speed(results)), _rows(_size(results)), _rows(_aims(results)), _noise(results)]
    return "\n\n".join(parts)


def _rows(rows: Iterator[Sequence[str]]) -> str:
    """Make a Markdown table; the first row is its head, and all columns but the first are figures."""
    head, *body = rows
    rule = ["---", *("--:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))


def _speed(results: Results) -> Iterator[Sequence[str]]:
    yield (
        *("turns at once", "p50 ms", "p95 ms", "p99 ms", "p50 to (a)", "turns/s"),
        *("CPU ms a turn: web", "worker", "together"),
    )
    for level in results.levels:
        for key, name in results.names.items():
            yield (
                f"{level}: ({key}) {name}",
                *(f"{results.middle(key, level, percentile(p)):.0f}" for p in (50, 95, 99)),
                f"{median(results.ratios(key, LIMIT, level, percentile(50))):.2f}",
                f"{results.middle(key, level, lambda one: one.driven.per_second):.1f}",
                *(_by_role(results, key, role, level) for role in ROLES),
                f"{results.middle(key, level, cpu_ms(*ROLES)):.1f}",
            )


def _by_role(results: Results, key: str, role: str, level: int) -> str:
    return f"{results.middle(key, level, cpu_ms(role)):.1f}" if role in results.roles(key) else "-"


def _size(results: Results) -> Iterator[Sequence[str]]:
    level = results.levels[-1]
    yield (
        f"peaks at {level} turns at once",
        *("PSS MB: web", "worker", "RSS MB: web", "worker", "Redis connections"),
    )
    for key, name in results.names.items():
        connections = results.most(key, level, lambda one: one.redis_connections)
        yield (
            f"({key}) {name}",
            *(
                f"{results.most(key, level, figure(role)):.0f}" if role in results.roles(key) else "-"
                for figure in (pss_mb, rss_mb)
                for role in ROLES
            ),
            f"{connections:.0f}" if connections else "-",
        )


def _aims(results: Results) -> Iterator[Sequence[str]]:
    yield "aim, for this service", "aim", "measured", ""
    p50 = percentile(50)
    latency = median(results.ratios(SERVICE, LIMIT, AIM_LEVEL, p50))
    cpu = results.middle(SERVICE, AIM_LEVEL, cpu_ms(*ROLES))
    memory = results.most(SERVICE, FULL_LEVEL, rss_mb("worker"))
    connections = results.most(SERVICE, FULL_LEVEL, lambda one: one.redis_connections)
    aims = [
        (f"p50 at {AIM_LEVEL} at once, against (a)", AIM_LATENCY, latency, ".2f"),
        (f"CPU ms a turn at {AIM_LEVEL} at once, web and worker", AIM_CPU_MS, cpu, ".1f"),
        (f"RSS MB of the one worker process at {FULL_LEVEL} at once", AIM_WORKER_MB, memory, ".0f"),
        (f"Redis connections with {FULL_LEVEL} waiting", AIM_CONNECTIONS, connections, ".0f"),
    ]
    if FORGETFUL in results.names:
        for level in (AIM_LEVEL, FULL_LEVEL):
            resume = median(results.ratios(SERVICE, FORGETFUL, level, cpu_ms(*ROLES)))
            aims.append((f"CPU a turn at {level} at once, against (d)", AIM_RESUME, resume, ".2f"))
    for what, aim, measured, form in aims:
        yield what, f"{aim:g}", f"{measured:{form}}", "met" if measured <= aim else "**missed**"


def _noise(results: Results) -> str:
    """Say how far the figures can be trusted."""
    spreads: list[float] = []
    for rounds in results.rounds.values():
        p50s = [percentile(50)(one) for one in rounds]
        spreads.append((max(p50s) - min(p50s)) / median(p50s))
    others = [one.others_busy for one in results.every()]
    stand_ins = median(one.stand_ins_cpu_ms / one.turns for one in results.every())
    return (
        f"Noise: between rounds a p50 differed by {median(spreads):.0%} in the median and "
        f"{max(spreads):.0%} at most. What else ran on the machine, database and Redis included, kept "
        f"{median(others):.2f} cores busy in the median run, {max(others):.2f} in the worst. The "
        f"stand-ins took {stand_ins:.1f} ms of CPU a turn of the same cores.{_resume_noise(results)}"
    )


def _resume_noise(results: Results) -> str:
    if FORGETFUL not in results.names:
        return ""
    ratios = results.ratios(SERVICE, FORGETFUL, AIM_LEVEL, cpu_ms(*ROLES))
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    return f" Round by round (b) took {spread} times the CPU of (d) at {AIM_LEVEL} at once."
