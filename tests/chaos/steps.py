"""The steps of a turn at which a fault strikes.

A step is a generator in three parts: what is prepared before the request, then (after the first `yield`)
what is awaited until the turn is exactly there, then (after the second) what lets it go on.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeAlias

from tests.chaos.cell import Cell
from tests.chaos.outside import FIRST, LAST

Step: TypeAlias = Callable[[Cell], Generator[None]]


def stored(cell: Cell) -> Generator[None]:
    """The turn is stored, its message not yet published."""
    cell.lane.web_to_redis.block("step", "frozen")
    yield
    cell.wait_for_state("stored")
    yield
    cell.lane.web_to_redis.clear("step")


def queued(cell: Cell) -> Generator[None]:
    """The message is queued, and no worker can reach the queue."""
    cell.lane.worker_to_redis.block("step", "cut")
    yield
    cell.wait_for_queue(1)
    cell.wait_for_state("queued")
    yield
    cell.lane.worker_to_redis.clear("step")


def delivered(cell: Cell) -> Generator[None]:
    """A worker has the message and has not begun the turn."""
    cell.lane.worker_to_redis.block("step", "frozen")
    yield
    cell.wait_for_state("queued")
    cell.wait_for_queue(0)
    yield
    cell.lane.worker_to_redis.clear("step")


def first_completion(cell: Cell) -> Generator[None]:
    """The first completion's request is at the provider."""
    hold = cell.lane.model.hold(FIRST)
    yield
    hold.wait_until_arrived()
    yield
    hold.release()


def claimed(cell: Cell) -> Generator[None]:
    """The claim is committed, and not a byte has left: the worker writes the audit mirror for a second."""
    hold = cell.lane.model.hold(FIRST)
    yield
    hold.wait_until_arrived()
    cell.lane.worker_to_redis.block("step", "frozen")
    hold.release()
    cell.wait_for_gate("claimed")
    yield
    cell.lane.worker_to_redis.clear("step")


def on_its_way(cell: Cell) -> Generator[None]:
    """The request has left, and does not reach payments."""
    cell.lane.way_to_payments.block("step", "frozen")
    yield
    cell.wait_for_gate("claimed")
    yield
    cell.lane.way_to_payments.block("step", "cut")
    cell.lane.way_to_payments.clear("step")


def asked(cell: Cell) -> Generator[None]:
    """The refund's request is at payments, which moves the money only later."""
    hold = cell.lane.payments.hold(moves_on_arrival=False)
    yield
    hold.wait_until_arrived()
    yield
    hold.release()


def moved(cell: Cell) -> Generator[None]:
    """The money has moved, and the answer is not sent yet."""
    hold = cell.lane.payments.hold(moves_on_arrival=True)
    yield
    hold.wait_until_arrived()
    yield
    hold.release()


def settling(cell: Cell) -> Generator[None]:
    """The worker has the receipt, and its commit waits; on PostgreSQL it may land after the worker died."""
    hold = cell.lane.payments.hold(moves_on_arrival=True)
    yield
    hold.wait_until_arrived()
    with cell.lane.tables_locked():
        hold.release()
        hold.wait_until_left()
        yield


def settle_lost(cell: Cell) -> Generator[None]:
    """The worker has the receipt, and what it writes does not reach the database."""
    hold = cell.lane.payments.hold(moves_on_arrival=True)
    yield
    hold.wait_until_arrived()
    with _database_out_of_reach(cell):
        hold.release()
        hold.wait_until_left()
        yield


def settled(cell: Cell) -> Generator[None]:
    """The receipt is committed, and the turn's next checkpoint is not."""
    hold = cell.lane.payments.hold(moves_on_arrival=True)
    yield
    hold.wait_until_arrived()
    cell.lane.worker_to_redis.block("step", "frozen")  # the audit mirror takes a second, as in `claimed`
    hold.release()
    cell.wait_for_gate("paid")
    yield
    cell.lane.worker_to_redis.clear("step")


def second_completion(cell: Cell) -> Generator[None]:
    """The second completion's request is at the provider; the refund is made."""
    hold = cell.lane.model.hold(LAST)
    yield
    hold.wait_until_arrived()
    yield
    hold.release()


def replying(cell: Cell) -> Generator[None]:
    """The worker has the reply, and its commit waits, as in `settling`."""
    hold = cell.lane.model.hold(LAST)
    yield
    hold.wait_until_arrived()
    with cell.lane.tables_locked():
        hold.release()
        hold.wait_until_left()
        yield


def reply_lost(cell: Cell) -> Generator[None]:
    """The worker has the reply, and what it writes does not reach the database."""
    hold = cell.lane.model.hold(LAST)
    yield
    hold.wait_until_arrived()
    with _database_out_of_reach(cell):
        hold.release()
        hold.wait_until_left()
        yield


@contextmanager
def _database_out_of_reach(cell: Cell) -> Generator[None]:
    """Keep all that is sent to the database; in the end it is lost with its connections."""
    way = cell.lane.way_to_database
    assert way is not None, "this needs PostgreSQL"
    way.block("step", "frozen")
    try:
        yield
    finally:
        way.block("step", "cut")
        way.clear("step")


STEPS: dict[str, Step] = {
    "stored": stored,
    "queued": queued,
    "delivered": delivered,
    "completion 1": first_completion,
    "claimed": claimed,
    "on its way": on_its_way,
    "asked": asked,
    "moved": moved,
    "settling": settling,
    "settle lost": settle_lost,
    "settled": settled,
    "completion 2": second_completion,
    "replying": replying,
    "reply lost": reply_lost,
}
NEED_POSTGRESQL = ("settle lost", "reply lost")
"""On SQLite `settling` and `replying` are the same: who waits for its lock has written nothing."""
HELD_FOR_LONG = ("completion 1", "asked", "moved", "completion 2")
"""Steps at which an outside service keeps the worker waiting, as long as it likes."""
