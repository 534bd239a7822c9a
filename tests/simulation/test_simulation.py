"""Some thousand turns of both agents on faulty simulated days; `make simulate` runs many more."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simulation.episodes import TURNS_AN_EPISODE, Result, Simulation
from tests.simulation.faults import RARE, Tally
from tests.simulation.report import failure, missing
from tests.simulation.trace import Trace

SEED = 20_240_718
EPISODES = 2_000 // TURNS_AN_EPISODE
TOO_FEW_FOR = RARE | {"upkeep stuck", "a look whether a claim lapses late"}
"""What two thousand turns may miss; `make simulate` with its ten thousand may miss only what is rare."""
ROOT = Path(__file__).parents[2]


class Days:
    """The episodes of the seed, each run once, five together."""

    def __init__(self) -> None:
        self.simulation = Simulation(SEED)
        self._run: dict[int, Result] = {}

    def run(self, first: int) -> Result:
        if first not in self._run:
            *_, self._run[first] = self.simulation.run(range(first, first + 5))
        return self._run[first]


@pytest.fixture(scope="module")
def days() -> Iterator[Days]:
    days = Days()
    yield days
    days.simulation.close()


@pytest.mark.fault(72, 73, 75, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 102, 203, 204, 205, 245, 246, 282)
@pytest.mark.fault(250, 266, 267, 268)
@pytest.mark.contract("C2", "C34", "C38", "C40", "C46")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("first", range(0, EPISODES, 5))
def test_whatever_fails_the_promises_hold(days: Days, first: int) -> None:
    assert [failure(failed) for failed in days.run(first).failures] == []


@pytest.mark.timeout(600)
def test_everything_that_may_fail_did_and_every_promise_was_put_to_the_test(days: Days) -> None:
    """So that none of it holds because nothing happened."""
    tally = Tally()
    for first in range(0, EPISODES, 5):
        tally.add(days.run(first).tally)

    assert set(missing(tally)) <= TOO_FEW_FOR


@pytest.mark.parametrize("episode", [2, 3], ids=["support agent", "refund chat"])
def test_an_episode_is_the_same_each_time(days: Days, episode: int) -> None:
    once, twice = Trace(), Trace()

    days.simulation.episode(episode, Tally(), once)
    days.simulation.episode(episode, Tally(), twice)

    assert once.lines == twice.lines


@pytest.mark.parametrize("episode", ["2", "3"], ids=["support agent", "refund chat"])
def test_an_episode_is_the_same_in_every_process(episode: str) -> None:
    def told(hash_seed: str) -> str:
        command = [sys.executable, "-m", "tests.simulation", "--seed", "5", "--episode", episode]
        run = subprocess.run(  # noqa: S603 - our own module
            command, cwd=ROOT, env={"PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=True
        )
        return run.stdout

    assert told("1") == told("2")
