"""Some thousand turns of both agents on faulty simulated days; `make simulate` runs many more."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.episodes import TURNS_AN_EPISODE, Simulation
from tests.simulation.faults import Tally
from tests.simulation.report import failure
from tests.simulation.trace import Trace

SEED = 20_240_718
EPISODES = 2_000 // TURNS_AN_EPISODE
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return Simulation(SEED)


@pytest.mark.fault(72, 73, 75, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 102, 203, 204, 205, 245, 246, 282)
@pytest.mark.fault(250, 266, 267, 268)
@pytest.mark.contract("C2", "C34", "C38", "C40", "C46")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("first", range(0, EPISODES, 5))
def test_whatever_fails_the_promises_hold(simulation: Simulation, first: int) -> None:
    failed = simulation.first_failure(range(first, first + 5))

    assert failed is None, failure(failed)


def test_an_episode_is_the_same_each_time(simulation: Simulation) -> None:
    once, twice = Trace(), Trace()

    simulation.episode(3, Tally(), once)
    simulation.episode(3, Tally(), twice)

    assert once.lines == twice.lines


def test_an_episode_is_the_same_in_every_process() -> None:
    def told(hash_seed: str) -> str:
        command = [sys.executable, "-m", "tests.simulation", "--seed", "5", "--episode", "2"]
        run = subprocess.run(  # noqa: S603 - our own module
            command, cwd=ROOT, env={"PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=True
        )
        return run.stdout

    assert told("1") == told("2")
