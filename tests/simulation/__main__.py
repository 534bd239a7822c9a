"""`make simulate SEED=… TURNS=… [AFTER=…] [PROCESSES=…]`, or `EPISODE=…` to see one episode again.

How far it is stands on standard error; Ctrl-C ends it with a report of what it has done by then.
"""

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence

from tests.simulation.episodes import TURNS_AN_EPISODE, Failure, Result, Simulation, run_share
from tests.simulation.faults import RARE, Tally
from tests.simulation.report import failure, missing, summary
from tests.simulation.trace import Trace

MAX_FAILURES = 3
EPISODES_A_SHARE = 20
ENOUGH_TURNS = 10_000
"""A run of so many turns has failed, too, when something that it should try never happened."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 1 when an invariant did not hold, or was never put to the test."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--after", type=int, default=0, help="turns of this seed that an earlier run did")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--episode", type=int, help="run this episode alone, and tell what happened")
    asked = parser.parse_args(arguments)
    if asked.episode is not None:
        return _tell(asked.seed, asked.episode)
    started, result = time.monotonic(), Result()
    try:
        for part in _parts(asked.seed, asked.turns, asked.processes, after=asked.after):
            _add(result, part)
            _show_progress(result, of=asked.turns, seconds=time.monotonic() - started)
            if len(result.failures) >= MAX_FAILURES:
                break
    except KeyboardInterrupt:
        sys.stderr.write("\nended early\n")
    result.failures.sort(key=lambda failed: failed.episode)
    print(summary(result, seed=asked.seed, seconds=time.monotonic() - started))  # noqa: T201 - a report
    for failed in result.failures[:MAX_FAILURES]:
        print(failure(failed))  # noqa: T201 - a report
    print(f"{result.episodes - len(result.failures)} passed, {len(result.failures)} failed")  # noqa: T201 - a report
    never = set(missing(result.tally)) - RARE if result.turns >= ENOUGH_TURNS else set[str]()
    return 1 if result.failures or never else 0


def _parts(seed: int, turns: int, processes: int, *, after: int) -> Iterator[Result]:
    """Run all episodes, shared out among processes; which process runs which changes nothing."""
    first = after // TURNS_AN_EPISODE
    episodes = range(first, first - (-turns // TURNS_AN_EPISODE))
    shares = [(seed, episodes[i : i + EPISODES_A_SHARE]) for i in range(0, len(episodes), EPISODES_A_SHARE)]
    if processes == 1:
        yield from map(run_share, shares)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(run_share, shares)


def _show_progress(result: Result, *, of: int, seconds: float) -> None:
    left = seconds / result.turns * max(0, of - result.turns)
    ending = "\n" if result.turns >= of or not sys.stderr.isatty() else ""
    sys.stderr.write(
        f"\r{result.turns:,} of {of:,} turns, {len(result.failures)} breaches, {left:,.0f} s left{ending}"
    )
    sys.stderr.flush()


def _add(total: Result, part: Result) -> None:
    total.turns += part.turns
    total.episodes += part.episodes
    total.tally.add(part.tally)
    total.failures += part.failures


def _tell(seed: int, episode: int) -> int:
    trace = Trace()
    breaches = Simulation(seed).episode(episode, Tally(), trace)
    if breaches:
        print(failure(Failure(seed, episode, breaches[0])))  # noqa: T201 - a report
        return 1
    print("\n".join(f"{line.turn_id:>12} {line}" for line in trace.lines))  # noqa: T201 - a report
    return 0


if __name__ == "__main__":
    sys.exit(main())
