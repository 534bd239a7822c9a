"""A worker keeps its leases whatever else it has to do, and takes nobody for dead after an outage."""

import queue
import threading
from collections.abc import Callable, Collection, Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from refund_agent.ports import StoreUnavailable
from refund_agent.wiring import WorkerParts
from tasks.upkeep import ALARM_PAUSE_SECONDS, Upkeep
from tests.fakes import FakeClock

LEASE_SECONDS = 0.06
SOON = 5.0


class Desk:
    """One upkeep over parts that tell what is asked of them."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.renewed: queue.Queue[set[str]] = queue.Queue()
        self.swept: queue.Queue[bool] = queue.Queue()
        self.on_sweep: Callable[[], None] = lambda: None
        self.on_renew: Callable[[], None] = lambda: None
        parts = SimpleNamespace(
            runner=SimpleNamespace(running=lambda: frozenset({"turn-1"})),
            presence=SimpleNamespace(beat=self._nothing, leave=self._nothing),
            sweeps=SimpleNamespace(renew=self._renew),
            sweeper=SimpleNamespace(sweep=self._sweep),
            figures=SimpleNamespace(stored=self._no_figures),
            chores=(),
        )
        self.upkeep = Upkeep(
            cast("WorkerParts", parts), owner="w1", clock=self.clock, lease_seconds=LEASE_SECONDS
        )

    def await_sweep(self, *, silence_means_death: bool) -> None:
        """Wait for a sweep of this kind; the clock stands, so that only a test lets a lease pass."""
        while self.swept.get(timeout=SOON) is not silence_means_death:
            pass

    def _renew(self, turn_ids: Collection[str], *, owner: str) -> None:
        self.on_renew()
        self.renewed.put({*turn_ids, owner})

    def _sweep(self, *, silence_means_death: bool) -> None:
        self.on_sweep()
        self.swept.put(silence_means_death)

    def _nothing(self, *_: object) -> None:
        pass

    def _no_figures(self) -> SimpleNamespace:
        raise StoreUnavailable("figures can wait")


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.upkeep.stop()


def test_leases_are_renewed_while_a_sweep_hangs(desk: Desk) -> None:
    hangs, goes_on = threading.Event(), threading.Event()

    def hang() -> None:
        hangs.set()
        goes_on.wait(SOON)

    desk.on_sweep = hang
    desk.upkeep.start()

    assert hangs.wait(SOON)
    renewed = [desk.renewed.get(timeout=SOON) for _ in range(5)]
    assert desk.swept.empty()
    goes_on.set()
    assert renewed == [{"turn-1", "w1"}] * 5


@pytest.mark.parametrize("fails", ["renewing", "sweeping"])
def test_after_a_database_was_away_nobody_is_taken_for_dead_until_a_lease_has_passed(
    desk: Desk, fails: str
) -> None:
    failed = threading.Event()

    def fail_once() -> None:
        if not failed.is_set():
            failed.set()
            raise StoreUnavailable("away")

    if fails == "renewing":
        desk.on_renew = fail_once
    else:
        desk.on_sweep = fail_once
    desk.upkeep.start()
    assert failed.wait(SOON)

    desk.await_sweep(silence_means_death=False)
    desk.clock.now += LEASE_SECONDS
    desk.await_sweep(silence_means_death=True)


def test_a_worker_whose_database_answers_takes_silence_for_death(desk: Desk) -> None:
    desk.upkeep.start()
    assert [desk.swept.get(timeout=SOON) for _ in range(3)] == [True] * 3


def test_figures_that_cannot_be_read_keep_nobody_from_sweeping(desk: Desk) -> None:
    desk.upkeep.start()
    for _ in range(3):
        desk.clock.now += ALARM_PAUSE_SECONDS + 1
        assert desk.swept.get(timeout=SOON) is True
