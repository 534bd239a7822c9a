"""`make simulate SEED=… TURNS=… [PROCESSES=…]`, or `EPISODE=…` to see one episode again."""

import argparse
import multiprocessing
import sys
import time
from collections.abc import Sequence

from tests.simulation.episodes import TURNS_AN_EPISODE, Failure, Result, Simulation, run_share
from tests.simulation.faults import Tally
from tests.simulation.report import failure, summary
from tests.simulation.trace import Trace

MAX_FAILURES = 3
EPISODES_A_SHARE = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 1 when an invariant did not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--episode", type=int, help="run this episode alone, and tell what happened")
    asked = parser.parse_args(arguments)
    if asked.episode is not None:
        return _tell(asked.seed, asked.episode)
    started = time.monotonic()
    result = _run(asked.seed, asked.turns, asked.processes)
    print(summary(result, seed=asked.seed, seconds=time.monotonic() - started))  # noqa: T201 - a report
    for failed in result.failures[:MAX_FAILURES]:
        print(failure(failed))  # noqa: T201 - a report
    print(f"{result.episodes - len(result.failures)} passed, {len(result.failures)} failed")  # noqa: T201 - a report
    return 1 if result.failures else 0


def _run(seed: int, turns: int, processes: int) -> Result:
    """Run all episodes, shared out among processes; which process runs which changes nothing."""
    episodes = range(-(-turns // TURNS_AN_EPISODE))
    shares = [(seed, episodes[i : i + EPISODES_A_SHARE]) for i in range(0, len(episodes), EPISODES_A_SHARE)]
    total = Result()
    if processes == 1:
        for share in shares:
            _add(total, run_share(share))
        return total
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for part in pool.imap_unordered(run_share, shares):
            _add(total, part)
            if len(total.failures) >= MAX_FAILURES:
                break
    total.failures.sort(key=lambda failed: failed.episode)
    return total


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
