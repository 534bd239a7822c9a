"""Which faults happen, and how often: drawn for each episode, so that some have few kinds and some many."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

KINDS: dict[str, float] = {
    # processes; the chance is per step of any actor, or per episode where it says so
    "worker killed": 0.004,
    "web killed": 0.0005,
    "worker frozen": 0.002,
    "web frozen": 0.0005,
    "step slow": 0.02,
    "thread stuck": 0.002,
    "upkeep stuck": 0.002,
    "worker told to stop": 0.7,
    "web told to stop": 0.5,
    # the database, per transaction
    "database away before the commit": 0.05,
    "database away, answer of the commit lost": 0.05,
    "database away for a while": 0.5,
    # the broker, per message
    "publish refused": 0.05,
    "publish reply lost": 0.2,
    "message lost": 0.1,
    "message doubled at once": 0.15,
    "message doubled later": 0.1,
    "message doubled long after": 0.05,
    "message delayed": 0.15,
    "message overtaken": 0.3,
    "message not expired by a wrong clock": 0.5,
    "message for no turn": 0.05,
    "broker emptied": 0.5,
    "redis away for a while": 0.5,
    # wake-ups and the mirror, per call
    "wake-up lost": 0.5,
    "wake-up late": 0.3,
    "wake-up false": 0.3,
    "mirror away": 0.3,
    # payments
    "payments answered by a gateway": 0.1,
    # the memory of a worker
    "flag lost in memory": 0.3,
}
"""The most often that each kind happens, as a chance."""
RARE = frozenset({"message not expired by a wrong clock"})
"""What ten thousand turns may well not see: it takes a message that comes after its turn's deadline."""


@dataclass
class Tally:
    """How often each thing happened, over any number of episodes."""

    faults: Counter[str] = field(default_factory=Counter)
    model: Counter[str] = field(default_factory=Counter)
    payments: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    refunds: Counter[str] = field(default_factory=Counter)
    told: Counter[str] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Tally") -> None:
        for name, counter in vars(self).items():
            counter.update(getattr(other, name))


class Faults:
    """Rolls the dice of one episode."""

    def __init__(self, rng: random.Random, tally: Counter[str], often: Mapping[str, float]) -> None:
        self._rng = rng
        self._tally = tally
        self.healthy = False
        # Half of the kinds are away in an episode: rare ones are not always buried under the common ones.
        self._chance = {
            kind: most * rng.choice((0.1, 0.3, 1.0)) if rng.random() < 0.5 else 0.0
            for kind, most in KINDS.items()
        } | dict(often)

    def strike_one_of(self, kinds: Sequence[str]) -> str:
        """Say which of these faults happens here and now, at most one; "" for none. Called at every step."""
        if self.healthy:
            return ""
        roll = self._rng.random()
        for kind in kinds:
            roll -= self._chance[kind]
            if roll < 0:
                self._tally[kind] += 1
                return kind
        return ""

    def strike(self, kind: str) -> bool:
        """Say whether this fault happens here and now, and count it if so."""
        chance = self._chance[kind]
        if not chance or self.healthy or self._rng.random() >= chance:
            return False
        self._tally[kind] += 1
        return True

    def seconds(self, least: float, most: float) -> float:
        """Draw a time; short ones are as likely as long ones."""
        return float(least * (most / least) ** self._rng.random())
