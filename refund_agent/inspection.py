"""What an operator sees of turns and refunds at 3 a.m., and the one thing a person may change: an unknown.

Nothing here sends. Resolving an unknown refund records who, when and why, and happens once.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from refund_agent.outcomes import RefundRecord
from refund_agent.turn import TurnRecord

SWEPT_SECONDS: Final = 10.0
"""By then a sweeper has ended an overdue turn: it waits 2 s for the facade, and comes every 5 s at least."""


@dataclass(frozen=True, slots=True)
class SendAgain:
    """Whether the customer's message could safely be sent again, and why."""

    is_safe: bool
    why: str


@dataclass(frozen=True, slots=True)
class Inspected:
    """A turn with its times, in seconds of database time at the moment of asking.

    `left_seconds` to the deadline (negative: overdue); `lease_seconds` until the worker's lease ends
    (negative: the worker is silent; None: nobody has it). `late_answer` is what payments answered after
    somebody else had decided about the refund: evidence, as JSON.
    """

    turn: TurnRecord
    owner: str
    age_seconds: float
    left_seconds: float
    lease_seconds: float | None
    late_answer: str = ""

    @property
    def worker_is_silent(self) -> bool:
        """Whether a worker has the turn and has not renewed its lease in time."""
        return self.turn.state == "running" and (self.lease_seconds or 0) < 0

    @property
    def is_stuck(self) -> bool:
        """Whether something should have moved it on by now."""
        is_overdue = self.left_seconds < -SWEPT_SECONDS
        return self.turn.state != "ended" and (is_overdue or self.worker_is_silent)

    def send_again(self) -> SendAgain:
        """Whether a person could safely ask the customer to send the message again, and why."""
        refund = self.turn.refund
        if refund is not None and refund.state in {"claimed", "unknown"}:
            return SendAgain(
                is_safe=False, why="a refund was requested and its outcome is not known: resolve it first"
            )
        if refund is not None and refund.state == "paid":
            return SendAgain(is_safe=False, why="the refund was paid")
        if refund is not None and refund.review and self.late_answer:
            return SendAgain(
                is_safe=False, why="payments' receipt came after somebody had answered that no money moved"
            )
        if self.turn.state != "ended":
            return SendAgain(is_safe=False, why="the turn has not ended: it may still send its refund")
        return SendAgain(is_safe=True, why="the turn has ended and no money moved")


@dataclass(frozen=True, slots=True)
class PersonsAnswer:
    """A person's answer to "did the money move?". `reference` is payments' own, when it did."""

    money_moved: bool
    resolved_by: str
    note: str
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The answer is saved; nothing was sent."""

    record: RefundRecord


@dataclass(frozen=True, slots=True)
class AlreadyResolved:
    """Somebody answered first; nothing was changed."""

    record: RefundRecord
    resolved_by: str
    note: str
    resolved_at_ms: int


@dataclass(frozen=True, slots=True)
class UnknownRefund:
    """A refund whose answer was lost, as the person who resolves it needs to see it.

    One that is still `claimed`, too, once its request cannot be on its way any more: nobody has settled it.

    `customer_id` and `conversation_id` are empty where they are not known any more, or never were. `answer`
    is a person's, None as long as nobody has resolved it.
    """

    record: RefundRecord
    age_seconds: float
    sent_at_ms: int
    evidence: str
    late_answer: str
    customer_id: str
    conversation_id: str
    answer: AlreadyResolved | None = None

    @property
    def known(self) -> str:
        """What is known of the outcome, in a few words."""
        missing = (
            "claimed, and no worker has settled it" if self.record.state == "claimed" else "no answer came"
        )
        return self.record.detail or missing


@dataclass(frozen=True, slots=True)
class NotUnknown:
    """There is no such refund, its outcome is not in doubt, or not yet; nothing was changed."""

    state: str

    def why(self) -> str:
        """Say why nobody may answer, and what to do about it."""
        if self.state == "claimed":
            return (
                "It is claimed: a worker settles it, or makes it unknown within a minute. See that one runs."
            )
        return f"It is not unknown but {self.state}."


IN_FLIGHT_SECONDS: Final = 30
"""After this no request of a claim can be on its way: it leaves within 5 s and has 10 s to be answered."""


@dataclass(frozen=True, slots=True)
class TooEarly:
    """The request may still be on its way, so "it did not move" cannot be known yet; nothing was changed."""

    wait_seconds: float


ResolveAnswer: TypeAlias = Resolved | AlreadyResolved | NotUnknown | TooEarly


class Inspection(Protocol):
    """What the console and the commands ask; any call may raise `StoreUnavailable`."""

    def recent(self, *, limit: int) -> list[Inspected]:
        """Return the newest turns, newest first."""
        ...

    def stuck(self, *, limit: int) -> list[Inspected]:
        """Return turns that something should have moved on by now, oldest first."""
        ...

    def turn(self, turn_id: str) -> Inspected | None:
        """Return one turn, or None."""
        ...

    def unknown(self, *, limit: int, also: Collection[str] = ()) -> list[UnknownRefund]:
        """Return refunds whose outcome is unknown, oldest first.

        Of the turns in `also` their refunds are returned, too, if they were resolved meanwhile.
        """
        ...

    def resolve(self, turn_id: str, answer: PersonsAnswer) -> ResolveAnswer:
        """Save a person's answer about an unknown refund, once, and tell it in its conversation.

        Sends nothing.
        """
        ...
