"""What a waiting request does: store, queue, wait, and say the truth at the end.

The facade's last word about money is always backed by the gate: when it gives up it closes the gate
first, and what it then reads is what stands.
"""

from dataclasses import dataclass
from typing import TypeAlias

import structlog

from refund_agent.outcomes import DeadlinePassed, NotAccepted
from refund_agent.ports import Clock, Queue, QueueUnavailable, StoreUnavailable, Turns, WaitingRoom
from refund_agent.turn import NewTurn, TurnRecord

log = structlog.stdlib.get_logger(__name__)

READ_TRIES = 4
READ_PAUSE_SECONDS = 0.5
MAX_WAKE_UPS = 1000
"""A wake-up is only a hint; this bounds how many false ones a request follows."""


@dataclass(frozen=True, slots=True)
class NotStored:
    """The database did not take the turn: it never ran and never will."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The turn exists, but the database cannot be asked what became of it."""

    turn_id: str


Ask: TypeAlias = TurnRecord | NotStored | Unreadable


class Facade:
    """Takes a customer's message and returns the ended turn."""

    def __init__(
        self, *, turns: Turns, queue: Queue, waiting_room: WaitingRoom, clock: Clock, deadline_seconds: float
    ) -> None:
        self._turns = turns
        self._queue = queue
        self._waiting_room = waiting_room
        self._clock = clock
        self._deadline_seconds = deadline_seconds

    def ask(self, new: NewTurn) -> Ask:
        """Run one turn and wait for it; returns within the deadline, with the turn ended."""
        deadline = self._clock.monotonic() + self._deadline_seconds
        try:
            self._turns.create(new)
        except StoreUnavailable:
            # Even if the row was written: nothing runs a turn that is `stored` and was never queued.
            return NotStored()
        with self._waiting_room.seat(new.id) as seat:
            try:
                self._queue.put(new.id)
            except QueueUnavailable:
                # The message may be queued all the same; the closed gate makes it harmless.
                return self._give_up(new.id, NotAccepted(), tries=1)
            self._mark_queued(new.id)
            for _ in range(MAX_WAKE_UPS):
                seat.wait(deadline - self._clock.monotonic())
                if ended := self._find_ended(new.id):
                    return ended
                if self._clock.monotonic() >= deadline:
                    break
        return self._give_up(new.id, DeadlinePassed(), tries=READ_TRIES)

    def _find_ended(self, turn_id: str) -> TurnRecord | None:
        try:
            record = self._turns.find(turn_id)
        except StoreUnavailable:
            return None
        return record if record is not None and record.state == "ended" else None

    def _mark_queued(self, turn_id: str) -> None:
        try:
            self._turns.mark_queued(turn_id)
        except StoreUnavailable:
            log.warning("turn_not_marked_queued", turn_id=turn_id)

    def _give_up(self, turn_id: str, outcome: DeadlinePassed | NotAccepted, *, tries: int) -> Ask:
        """End the turn with `outcome` unless it has ended already; return what stands."""
        for attempt in range(tries):
            try:
                return self._turns.give_up(turn_id, outcome)
            except StoreUnavailable:
                if attempt + 1 < tries:
                    self._clock.sleep(READ_PAUSE_SECONDS)
        return Unreadable(turn_id)
