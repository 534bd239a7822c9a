"""The portal on behalf of customers: asks, and asks again with the same key where that is safe."""

import random
from collections.abc import Callable, Sequence

from tests.simulation.lives import Life, Lives
from tests.simulation.stage import Stage
from tests.simulation.webs import WebProcess

MAX_TRIES = 4
MESSAGES = ("refund 5.00 for A1", "naïve 😀 message", "x" * 4000)
SAFE_TO_REPEAT = frozenset({"not stored", "NotAccepted, no refund"})
"""What is answered with 503 and Retry-After."""


class Portal:
    """Sends the customers of one episode; counts those who are not done yet."""

    def __init__(self, stage: Stage, lives: Lives, webs: Sequence[WebProcess]) -> None:
        self.stage = stage
        self.lives = lives
        self._webs = webs
        self.busy = 0

    def expect(self, turn_id: str, when: float) -> None:
        """Plan one customer's coming."""
        self.busy += 1
        customer = Customer(self, turn_id)
        self.stage.scheduler.at(when, customer.ask)

    def some_web(self) -> WebProcess | None:
        """Return a web process that takes requests."""
        open_ones = [web for web in self._webs if web.process.is_alive and not web.closing]
        return self.stage.rng.choice(open_ones) if open_ones else None


class Customer:
    """One message, sent once, or a few times under one idempotency key."""

    def __init__(self, portal: Portal, name: str) -> None:
        self._portal = portal
        self._rng: random.Random = portal.stage.rng
        self._name = name
        self._key = f"key-{name}" if self._rng.random() < 0.5 else ""
        self._message = self._rng.choice(MESSAGES)
        self._tries = 0

    def ask(self) -> None:
        """Send the message to any web process, each time as a new turn."""
        web = self._portal.some_web()
        if web is None:
            self._later(self.ask)
            return
        self._tries += 1
        body = "another body" if self._tries > 1 and self._rng.random() < 0.1 else "body"
        turn_id = self._name if self._tries == 1 else f"{self._name}-{self._tries}"
        life = Life(turn_id, self._message, 0.0, self._key, body if self._key else "")
        self._portal.lives.of[turn_id] = life
        web.ask(life, self, waits=self._rng.random() < 0.9)

    def answered(self, told: str) -> None:
        """Ask again after a 503, and now and then just so."""
        again = told in SAFE_TO_REPEAT or self._rng.random() < 0.4
        self._again(wanted=again)

    def cut_off(self) -> None:
        """Ask again after a lost connection: with a key that is safe."""
        self._again(wanted=True)

    def _again(self, *, wanted: bool) -> None:
        if wanted and self._key and self._tries < MAX_TRIES:
            self._later(self.ask)
        else:
            self._portal.busy -= 1

    def _later(self, act: Callable[[], None]) -> None:
        scheduler = self._portal.stage.scheduler
        scheduler.at(scheduler.now + self._portal.stage.faults.seconds(0.01, 10.0), act)
