"""Each guard of the design is needed: the simulator without it breaks a promise, and says which."""

from collections.abc import Iterator

import pytest

from tests.simulation.episodes import Simulation
from tests.simulation.guards import Guard
from tests.simulation.guards_all import GUARDS

pytestmark = pytest.mark.guards

SEED = 1
MAX_EPISODES = 60


@pytest.fixture
def without(guard: Guard) -> Iterator[Simulation]:
    """Give the simulator without the guard."""
    simulation = Simulation(SEED, guard.removal)
    yield simulation
    simulation.close()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name.replace(" ", "_"))
def test_removing_a_guard_is_caught(guard: Guard, without: Simulation) -> None:
    failed = without.first_failure(range(MAX_EPISODES))

    assert failed is not None, f"nothing broke without this guard: {guard.name}"
    assert failed.breach.invariant in guard.caught_by, failed.breach


def test_each_guard_has_a_name_of_its_own() -> None:
    assert len({guard.name for guard in GUARDS}) == len(GUARDS)
