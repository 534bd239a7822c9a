"""What a waiting request does: store, queue, wait, and say the truth at the end.

The facade's last word about money is always backed by the gate: when it gives up it closes the gate
first, and what it then reads is what stands.
"""

from dataclasses import dataclass
from typing import TypeAlias, assert_never

import structlog

from refund_agent.outcomes import (
    ConversationBusy,
    CreateAnswer,
    Created,
    DeadlinePassed,
    Joined,
    KeyReused,
    NotAccepted,
    TurnOutcome,
)
from refund_agent.ports import (
    Clock,
    Queue,
    QueueUnavailable,
    Seat,
    StoreUnavailable,
    Turns,
    WaitingRoom,
)
from refund_agent.turn import NewTurn, TurnRecord

log = structlog.stdlib.get_logger(__name__)

GIVE_UP_TRIES = 4
GIVE_UP_SECONDS = 2.0
"""No further try begins after this: with the database frozen one takes up to 6 s, and somebody waits."""
GIVE_UP_PAUSE_SECONDS = 0.5
MAX_WAKE_UPS = 1000
"""A wake-up is only a hint; this bounds how many false ones a request follows."""


@dataclass(frozen=True, slots=True)
class NotStored:
    """The database did not take the turn: it never ran and never will."""


@dataclass(frozen=True, slots=True)
class KeyUnreadable:
    """The database did not take the turn, nor say whether an earlier request with its key had run."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The turn exists, but the database cannot be asked what became of it."""

    turn_id: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """The idempotency key's turn had ended already; this is what became of it."""

    turn: TurnRecord


@dataclass(frozen=True, slots=True)
class Started:
    """The turn is on its way; nobody waits for it here."""

    turn_id: str


@dataclass(frozen=True, slots=True)
class StillRunning:
    """This process stops; the turn belongs to another request and runs on. The same key finds it again."""

    turn_id: str


AskAnswer: TypeAlias = (
    TurnRecord
    | Replayed
    | KeyReused
    | ConversationBusy
    | StillRunning
    | NotStored
    | KeyUnreadable
    | Unreadable
)
"""What the waiting request is told: how its turn ended, or why nothing is known of an end."""


class Facade:
    """Takes a customer's message; returns the turn as it ended, or why nothing is known of an end."""

    def __init__(
        self, *, turns: Turns, queue: Queue, waiting_room: WaitingRoom, clock: Clock, deadline_seconds: float
    ) -> None:
        self._turns = turns
        self._queue = queue
        self._waiting_room = waiting_room
        self._clock = clock
        self._deadline_seconds = deadline_seconds

    def ask(self, new: NewTurn) -> AskAnswer:
        """Run one turn and wait until it has ended, at most until the deadline; then it is ended here.

        Without an ended turn, the answer says why: nothing was stored, or what was cannot be read or runs on.
        While the database is away, giving up at the deadline takes some seconds more.
        """
        deadline = self._clock.monotonic() + self._deadline_seconds
        stored = self._store(new)
        match stored:
            case Created():
                with self._waiting_room.seat(new.id) as seat:
                    return self._queue_turn(new.id) or self._wait(seat, new.id, deadline)
            case Joined(turn_id):
                return self._join(turn_id, deadline)
            case KeyReused() | ConversationBusy() | NotStored() | KeyUnreadable():
                return stored
            case _:
                assert_never(stored)

    def start(self, new: NewTurn) -> Started | AskAnswer:
        """Start one turn and return at once; its end is read from its row."""
        stored = self._store(new)
        match stored:
            case Created():
                return self._queue_turn(new.id) or Started(new.id)
            case Joined(turn_id):
                ended = self._find_ended(turn_id)
                return Started(turn_id) if ended is None else Replayed(ended)
            case KeyReused() | ConversationBusy() | NotStored() | KeyUnreadable():
                return stored
            case _:
                assert_never(stored)

    def find(self, turn_id: str) -> TurnRecord | Unreadable | None:
        """Return where a turn stands, or None when there is no such turn."""
        try:
            return self._turns.find(turn_id)
        except StoreUnavailable:
            return Unreadable(turn_id)

    def _store(self, new: NewTurn) -> CreateAnswer | NotStored | KeyUnreadable:
        try:
            return self._turns.create(new)
        except StoreUnavailable as error:
            log.warning("turn_not_stored", turn_id=new.id, error=str(error))
            # Even if the row was written: nothing runs a turn that is `stored` and was never queued.
            return KeyUnreadable() if new.idempotency_key else NotStored()

    def _queue_turn(self, turn_id: str) -> TurnRecord | Unreadable | None:
        """Publish the turn's message; when that may have failed, give the turn up and return its end."""
        try:
            self._queue.put(turn_id)
        except QueueUnavailable:
            # The message may be queued all the same; the closed gate makes it harmless.
            return self._give_up(turn_id, NotAccepted(), tries=1)
        try:
            self._turns.mark_queued(turn_id)
        except StoreUnavailable:
            log.warning("turn_not_marked_queued", turn_id=turn_id)
        return None

    def _join(self, turn_id: str, deadline: float) -> AskAnswer:
        """Wait for a turn that another request with the same key has started."""
        with self._waiting_room.seat(turn_id) as seat:
            if ended := self._find_ended(turn_id):
                return Replayed(ended)
            return self._await_end(seat, turn_id, deadline) or self._leave(turn_id, deadline)

    def _leave(self, turn_id: str, deadline: float) -> TurnRecord | StillRunning | Unreadable:
        """Stop waiting for somebody else's turn: it is ended only when its time is over."""
        if self._clock.monotonic() < deadline:
            return self._find_ended(turn_id) or StillRunning(turn_id)
        return self._give_up(turn_id, DeadlinePassed(), tries=GIVE_UP_TRIES)

    def _wait(self, seat: Seat, turn_id: str, deadline: float) -> TurnRecord | Unreadable:
        """Wait until the turn has ended; at the deadline, or when the process stops, end it."""
        ended = self._await_end(seat, turn_id, deadline)
        return ended or self._give_up(turn_id, DeadlinePassed(), tries=GIVE_UP_TRIES)

    def _await_end(self, seat: Seat, turn_id: str, deadline: float) -> TurnRecord | None:
        """Wait until the turn has ended; None at the deadline, or when the process stops."""
        for _ in range(MAX_WAKE_UPS):
            seat.wait(deadline - self._clock.monotonic())
            if self._waiting_room.closing:
                break  # giving up tells what stands, and nothing may be asked twice now
            if ended := self._find_ended(turn_id):
                return ended
            if self._clock.monotonic() >= deadline:
                break
        return None

    def _find_ended(self, turn_id: str) -> TurnRecord | None:
        found = self.find(turn_id)
        return found if isinstance(found, TurnRecord) and found.state == "ended" else None

    def _give_up(self, turn_id: str, outcome: TurnOutcome, *, tries: int) -> TurnRecord | Unreadable:
        """End the turn with `outcome` unless it has ended already; return what stands."""
        last_try_at = self._clock.monotonic() + GIVE_UP_SECONDS
        for attempt in range(tries):
            try:
                return self._turns.give_up(turn_id, outcome)
            except StoreUnavailable:
                if attempt + 1 == tries or self._clock.monotonic() >= last_try_at:
                    break
                self._clock.sleep(GIVE_UP_PAUSE_SECONDS)
        return Unreadable(turn_id)
