"""Runs episodes by seed, and says how to see a failing one again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tests.simulation.database import SimulatedDatabase
from tests.simulation.faults import Tally
from tests.simulation.logs_heard import hear_logs
from tests.simulation.modules import Modules, Patch
from tests.simulation.stage import Breach
from tests.simulation.support_world import SupportWorld
from tests.simulation.trace import Trace
from tests.simulation.world import World

Agent: TypeAlias = Literal["refund_chat", "support"]
TURNS_AN_EPISODE = 100
SUPPORT_EPISODES = 3
"""One in so many episodes is the support agent's."""
WORLDS: Mapping[Agent, type[World]] = {"refund_chat": World, "support": SupportWorld}


@dataclass(frozen=True, slots=True)
class Removal:
    """What is taken out of the service for a run: pieces of its modules, pieces of its tables."""

    patches: Sequence[Patch] = ()
    tables: tuple[tuple[str, str], ...] = ()
    often: Mapping[str, float] = field(default_factory=dict)
    """Faults that must be common for the removal to show soon, with their chances."""
    agent: Agent | None = None
    """Whose episodes are run; None: both agents', in turn."""


@dataclass
class Failure:
    """An episode in which an invariant did not hold."""

    seed: int
    episode: int
    breach: Breach


@dataclass
class Result:
    """What a number of episodes came to."""

    turns: int = 0
    episodes: int = 0
    tally: Tally = field(default_factory=Tally)
    failures: list[Failure] = field(default_factory=list)


class Simulation:
    """Runs any episode of one seed; each is the same whenever and wherever it runs."""

    def __init__(self, seed: int, removal: Removal | None = None) -> None:
        removal = removal or Removal()
        self._seed = seed
        self._modules = Modules(removal.patches)
        self._often = removal.often
        self._agent = removal.agent
        self._database = SimulatedDatabase(dropped=removal.tables)

    def episode(self, number: int, tally: Tally, trace: Trace | None = None) -> list[Breach]:
        """Run one episode to its end, or to its first breach."""
        world = WORLDS[self._agent or _agent_of(number)](
            f"{self._seed}/{number}",
            turns=TURNS_AN_EPISODE,
            database=self._database,
            modules=self._modules,
            tally=tally,
            trace=trace,
            often=self._often,
        )
        with hear_logs(world.stage):
            return world.run()

    def run(self, episodes: Sequence[int]) -> Iterator[Result]:
        """Run these episodes, and give the result so far after each."""
        result = Result()
        for number in episodes:
            breaches = self.episode(number, result.tally)
            result.turns += TURNS_AN_EPISODE
            result.episodes += 1
            if breaches:
                result.failures.append(Failure(self._seed, number, breaches[0]))
            yield result

    def first_failure(self, episodes: Sequence[int]) -> Failure | None:
        """Run until an invariant does not hold."""
        for result in self.run(episodes):
            if result.failures:
                return result.failures[0]
        return None

    def close(self) -> None:
        """Give the database back."""
        self._database.close()


def _agent_of(number: int) -> Agent:
    return "support" if number % SUPPORT_EPISODES == SUPPORT_EPISODES - 1 else "refund_chat"


def run_share(share: tuple[int, range]) -> Result:
    """Run some episodes of a seed; a process of its own may do this, so it stands in a module."""
    seed, episodes = share
    simulation = Simulation(seed)
    result = Result()
    for result in simulation.run(episodes):  # noqa: B007 - the last one is the whole
        pass
    simulation.close()
    return result
