"""One whole service per test process, whose processes are killed; its times of stopping are shortened."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.chaos.judge import Evidence
from tests.chaos.lane import QUICK, Lane, open_lane
from tests.chaos.run import close, run_cell
from tests.conftest import WORKER_NUMBER

HERE = Path(__file__).parent

TEST_SECONDS = 180
"""A few seconds each, but a busy machine takes long to start a process in place of a killed one."""

Strike = Callable[[str, str], Evidence]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is here: `-m "not chaos"` leaves it out, `-m chaos -n 2` is the quickest way to run it."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.chaos)
            item.add_marker(pytest.mark.timeout(TEST_SECONDS))


@pytest.fixture(scope="session")
def lane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lane]:
    with open_lane(WORKER_NUMBER, folder=tmp_path_factory.mktemp("chaos"), commands=QUICK) as lane:
        yield lane
        assert close(lane) == []


@pytest.fixture
def strike(lane: Lane) -> Strike:
    """Give what lets a fault strike at a step; it fails unless all that was said afterwards was true."""

    def run(step: str, fault: str) -> Evidence:
        result = run_cell(lane, step, fault, run=0)
        assert result.evidence is not None, result.notes
        assert result.objections == ()
        return result.evidence

    return run
