"""The outside world as one turn needs it. Adapters implement these.

The support agent's ports (conversations, approvals, orders, limits and so on) stand beside their values, each
in the module that is named after them.
"""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from refund_agent.outcomes import (
    CallPosition,
    ClaimAnswer,
    CreateAnswer,
    PaymentAnswer,
    RefundRecord,
    TurnOutcome,
)
from refund_agent.policy import PolicyCheck
from refund_agent.turn import AssistantMessage, Message, NewTurn, Turn, TurnRecord

# --- The model ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """A tool as the model sees it; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, object]


@dataclass(frozen=True, slots=True)
class Completed:
    """One completion. `truncated` means that it hit a length limit: its arguments may be cut.

    `tokens` is 0 where the provider does not tell them; `read_tokens` are those of the request.
    `cost_microdollars` is None where it is not known.
    """

    message: AssistantMessage
    truncated: bool = False
    tokens: int = 0
    read_tokens: int = 0
    model: str = ""
    cost_microdollars: int | None = None


@dataclass(frozen=True, slots=True)
class CompletionTimedOut:
    """No answer within the time allowed; the only ending that is retried, once a turn."""


@dataclass(frozen=True, slots=True)
class CompletionFailed:
    """Refused, unreachable, or answered with something that is not a completion."""

    reason: str


CompletionAnswer: TypeAlias = Completed | CompletionTimedOut | CompletionFailed


class Model(Protocol):
    """Makes one completion, once, within a hard wall."""

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolDeclaration],
        *,
        request_id: str,
        timeout_seconds: float,
    ) -> CompletionAnswer:
        """Ask once. `request_id` names the call at the provider (`<turn id>-<completion number>`)."""
        ...


# --- Money ----------------------------------------------------------------------------------------


class Payments(Protocol):
    """Sends one refund request, once, within a hard wall."""

    def refund(self, order_id: str, amount_cents: int, *, send_within_seconds: float) -> PaymentAnswer:
        """Ask payments once to move `amount_cents`. A lost answer is `Unknown`, never a guess.

        What could not begin to leave within `send_within_seconds` is not sent.
        """
        ...


class Ledger(Protocol):
    """The gate: at most one row a turn, and the first writer wins.

    Each write is one transaction; any call may raise `StoreUnavailable`.
    """

    def claim(
        self,
        turn: Turn,
        *,
        call: CallPosition,
        order_id: str,
        amount_cents: int,
        check: PolicyCheck | None = None,
    ) -> ClaimAnswer:
        """Take the turn's one right to send, and checkpoint the turn in the same commit.

        A `check` is run inside the transaction, on facts read under the order's lock; only what it
        approves is claimed, and what it refuses leaves nothing behind.
        """
        ...

    def settle(self, claimed: RefundRecord, *, epoch: int, answer: PaymentAnswer) -> RefundRecord:
        """Write what came back over this owner's claim; return the row as it now stands.

        A claim that the sweeper has already made `unknown` is not flipped: the answer is kept beside
        it as late evidence.
        """
        ...


class Audit(Protocol):
    """The Redis mirror of the ledger, for audit. The ledger is the truth."""

    def mirror(self, record: RefundRecord) -> bool:
        """Copy a row; never raises and never takes long. False: not taken, and copied later."""
        ...


# --- Turns ----------------------------------------------------------------------------------------


class StoreUnavailable(Exception):
    """The database could not be asked, or its answer was lost: the write may or may not have happened."""


class QueueUnavailable(Exception):
    """The broker could not be asked, or its answer was lost: the message may be queued all the same."""


class Turns(Protocol):
    """The turns table. Each write is one short transaction; any call may raise `StoreUnavailable`."""

    def create(self, new: NewTurn) -> CreateAnswer:
        """Store a turn as `stored`; its deadline is computed here, from database time.

        Of two requests with one idempotency key, the first is stored. A conversation that is not there yet
        begins in the same commit: there is none without a turn.
        """
        ...

    def mark_queued(self, turn_id: str) -> None:
        """Record that the broker took the turn's message, so that a lost message may be sent again."""
        ...

    def begin(self, turn_id: str, *, owner: str) -> Turn | None:
        """Take a waiting turn (epoch + 1), or return None: unknown, taken, ended or too late."""
        ...

    def checkpoint(self, turn: Turn) -> bool:
        """Keep the turn's state; False when this owner's epoch no longer holds it."""
        ...

    def end(self, turn: Turn, outcome: TurnOutcome) -> bool:
        """End the turn; False when this owner's epoch no longer holds it."""
        ...

    def put_off(self, turn: Turn, *, seconds: int) -> None:
        """Give the turn back, to be queued again after this pause and a lease, while its deadline allows.

        Does nothing once its refund was attempted, or when this owner's epoch no longer holds it.
        """
        ...

    def give_up(self, turn_id: str, outcome: TurnOutcome, *, only_stored: bool = False) -> TurnRecord:
        """Close the gate and end the turn, unless something came first; return what now stands.

        A turn that ends as `NotAccepted` frees its idempotency key, so that the caller may try again, unless
        its refund was attempted. `only_stored`: leave the turn alone if its message was queued, or even
        taken, after all. Raises `LookupError` for a turn that was never stored.
        """
        ...

    def find(self, turn_id: str) -> TurnRecord | None:
        """Return the turn with its ledger row, or None."""
        ...

    def ended(self, turn_ids: Collection[str]) -> set[str]:
        """Return those of the ids whose turn has ended."""
        ...


class Sweeps(Protocol):
    """What a sweeper finds and mends. A doubled sweeper is harmless.

    Each write is one atomic transaction; any call may raise `StoreUnavailable`.
    """

    def renew(self, turn_ids: Collection[str], *, owner: str) -> None:
        """Renew the leases of the turns that this owner is running now."""
        ...

    def overdue(self) -> list[str]:
        """Return turns that have not ended although their deadline passed a while ago."""
        ...

    def never_queued(self) -> list[str]:
        """Return turns whose web process died, or lost its broker, before their message was surely sent."""
        ...

    def lapse_claims(self) -> list[RefundRecord]:
        """Make `unknown` every claim whose owner died before it settled; return the rows."""
        ...

    def take_over(self) -> list[str]:
        """Put turns with an expired lease back to `queued` under a new epoch; return their ids."""
        ...

    def release(self, turn_ids: Collection[str], *, owner: str) -> list[str]:
        """Put a stopping owner's turns back to `queued`, save those with a refund in flight; return them."""
        ...

    def hopeless(self) -> list[str]:
        """Return turns with an expired lease that have cost too many workers already."""
        ...

    def requeue_lost(self) -> list[str]:
        """Return turns that have been `queued` for long, and note that they are queued anew."""
        ...

    def not_mirrored(self) -> list[RefundRecord]:
        """Return ledger rows whose present state is not known to be in the audit mirror."""
        ...

    def mark_mirrored(self, records: Sequence[RefundRecord]) -> None:
        """Note that these rows were mirrored in the state they carry."""
        ...


class Hints(Protocol):
    """Hints to whoever watches. Losing one changes nothing; no call raises or takes long."""

    def phase(self, turn_id: str, phase: str) -> None:
        """Tell that a running turn has reached a phase, such as `thinking` or `asking-payments`."""
        ...

    def ended(self, turn_id: str) -> None:
        """Wake whoever waits for this turn."""
        ...


QUEUE = "turns"
"""The broker's one queue."""


class Queue(Protocol):
    """The broker, as it is seen by whoever queues turns: the facade, the sweeper and the approval desk."""

    def put(self, turn_id: str) -> None:
        """Publish the turn's message once, within a few seconds; raise `QueueUnavailable`."""
        ...

    def is_empty(self) -> bool:
        """Whether no message waits for a worker; raise `QueueUnavailable`."""
        ...


class SignalsUnavailable(Exception):
    """Nothing can be heard now; the message names the driver's exception class."""


class Listener(Protocol):
    """One subscription to the ids of ended turns."""

    def next(self, *, seconds: float) -> str | None:
        """Return the next id, or None after `seconds` without one."""
        ...


class Signals(Protocol):
    """The wake-up channel between workers and web processes."""

    def publish(self, turn_id: str) -> None:
        """Say that a turn has ended; never raises and never takes long."""
        ...

    def listen(self) -> AbstractContextManager[Listener]:
        """Subscribe for as long as the context is open; raises `SignalsUnavailable`."""
        ...


class Seat(Protocol):
    """One place in the waiting room."""

    def wait(self, seconds: float) -> None:
        """Sleep until the turn has ended as far as anyone knows, or the time is over."""
        ...


class WaitingRoom(Protocol):
    """Where a web thread sleeps until its turn has ended. The wake-up is a hint; the row is the result."""

    @property
    def closing(self) -> bool:
        """Whether the process is about to stop, so that nobody may wait any longer."""
        ...

    def seat(self, turn_id: str) -> AbstractContextManager[Seat]:
        """Take a seat before the turn is queued, so that no wake-up is missed."""
        ...


class Clock(Protocol):
    """The process's monotonic clock."""

    def monotonic(self) -> float:
        """Seconds on a clock that never jumps."""
        ...

    def sleep(self, seconds: float) -> None:
        """Do nothing for this long."""
        ...
