"""What was measured, by contender and concurrency, and its figures over the rounds."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import TypeAlias

from tests.bench.drive import Driven
from tests.bench.usage import Usage


@dataclass(frozen=True, slots=True)
class Measured:
    """One contender at one concurrency in one round.

    `usage` is by role, `web` and `worker`; the bare loop is all worker. `wrong_refunds` counts the turns
    that did not move their money exactly once. `others_busy` is the share of one core that other
    processes of the machine used meanwhile, database and Redis included.
    """

    driven: Driven
    usage: Mapping[str, Usage]
    redis_connections: int
    wrong_refunds: int
    stand_ins_cpu_ms: float
    others_busy: float

    @property
    def turns(self) -> int:
        """How many turns were answered."""
        return len(self.driven.took_ms)


Figure: TypeAlias = Callable[[Measured], float]


def percentile(percent: int) -> Figure:
    """Milliseconds that so many percent of the turns took at most."""
    return lambda one: quantiles(one.driven.took_ms, n=100, method="inclusive")[percent - 1]


def cpu_ms(*roles: str) -> Figure:
    """Milliseconds of CPU a turn, of these roles together."""
    return lambda one: sum(one.usage[role].cpu_ms for role in roles if role in one.usage) / one.turns


def pss_mb(role: str) -> Figure:
    """Peak memory of a role's processes, shared pages counted once."""
    return lambda one: one.usage[role].pss_mb


def rss_mb(role: str) -> Figure:
    """Peak memory of a role's processes, shared pages counted in each."""
    return lambda one: one.usage[role].rss_mb


@dataclass(slots=True)
class Results:
    """Everything that was measured: by contender's key and concurrency, the rounds in order."""

    names: dict[str, str]
    rounds: dict[tuple[str, int], list[Measured]] = field(
        default_factory=dict[tuple[str, int], list[Measured]]
    )

    def add(self, key: str, at_once: int, measured: Measured) -> None:
        """Keep one round."""
        self.rounds.setdefault((key, at_once), []).append(measured)

    def middle(self, key: str, at_once: int, figure: Figure) -> float:
        """Return the median over the rounds."""
        return median(map(figure, self.rounds[key, at_once]))

    def most(self, key: str, at_once: int, figure: Figure) -> float:
        """Return the highest of the rounds."""
        return max(map(figure, self.rounds[key, at_once]))

    def ratios(self, key: str, other: str, at_once: int, figure: Figure) -> list[float]:
        """Return one contender's figure over another's, round by round: the machine's pace is out of it."""
        pairs = zip(self.rounds[key, at_once], self.rounds[other, at_once], strict=True)
        return [figure(one) / figure(against) for one, against in pairs]

    def roles(self, key: str) -> frozenset[str]:
        """Return the roles that a contender has."""
        return frozenset(self.rounds[key, self.levels[0]][0].usage)

    @property
    def levels(self) -> Sequence[int]:
        """The concurrencies, ascending."""
        return sorted({at_once for _, at_once in self.rounds})

    def every(self) -> Iterator[Measured]:
        """Every round of everything."""
        for measured in self.rounds.values():
            yield from measured

    def mistakes(self) -> list[str]:
        """Name every turn that failed, and every run whose money is not exactly its turns'."""
        found: list[str] = []
        for (key, at_once), rounds in self.rounds.items():
            for one in rounds:
                found += [f"({key}) at {at_once}: {error}" for error in one.driven.errors]
                if one.wrong_refunds:
                    found.append(
                        f"({key}) at {at_once}: {one.wrong_refunds} turns without exactly one refund"
                    )
        return found
