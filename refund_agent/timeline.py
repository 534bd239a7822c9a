"""One turn as a line of steps in time: what a person looks at to see what happened, and when.

Made from what is stored: the turn's row, its ledger row, its transcript and its events. Every time in it
was written by somebody when it happened. What was not recorded is None, and is never guessed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from refund_agent.journal import Event
from refund_agent.turn import Message, TurnRecord
from refund_agent.turn_steps import What

# --- What is read ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TurnTimes:
    """When a turn's rows were written, in milliseconds of database time. `now` is when they were read."""

    now: int
    begun: int | None = None
    ended: int | None = None
    claimed: int | None = None
    settled: int | None = None
    lease_until: int | None = None


@dataclass(frozen=True, slots=True)
class Resolution:
    """A person's answer about an unknown refund. `reference` is payments' own, if the money moved."""

    money_moved: bool
    resolved_by: str
    reference: str
    note: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class TurnFile:
    """Everything that is stored about one turn. `cost_microdollars` None: the price is not known.

    Not `is_whole`: its events were left out, because too many turns were asked for together.
    """

    record: TurnRecord
    times: TurnTimes
    messages: Sequence[Message] = ()
    events: Sequence[Event] = ()
    tokens_used: int = 0
    cost_microdollars: int | None = None
    resolution: Resolution | None = None
    is_whole: bool = True

    @property
    def known_cost_microdollars(self) -> int | None:
        """What its completions cost; one that was never answered told neither tokens nor a cost."""
        nobody_told = self.record.completions_used > 0 and not (self.tokens_used or self.cost_microdollars)
        return None if nobody_told else self.cost_microdollars

    @property
    def worker_is_silent(self) -> bool:
        """Whether a worker has the turn and has not renewed its lease in time."""
        lease = self.times.lease_until
        return self.record.state == "running" and lease is not None and lease < self.times.now


class TurnFiles(Protocol):
    """Where files are read; any call may raise `StoreUnavailable`."""

    def of_turn(self, turn_id: str) -> TurnFile | None:
        """Return a turn's file, or None."""
        ...

    def of_conversation(self, conversation_id: str, *, limit: int) -> Sequence[TurnFile]:
        """Return the files of a conversation's newest turns, oldest first."""
        ...

    def stamp(self, conversation_id: str) -> str:
        """Return a short text that is another one after anything in the conversation has changed."""
        ...


# --- The line -------------------------------------------------------------------------------------

StepState: TypeAlias = Literal["done", "open", "lost"]
"""`open`: still going on; `lost`: it began and its end was not recorded, or nothing of it was."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step. Times are milliseconds since the turn was stored; equal ones are a moment.

    Whatever is inside a tool call has `depth` 1.
    """

    what: What
    start_ms: int | None
    end_ms: int | None
    state: StepState = "done"
    depth: int = 0

    @property
    def took_ms(self) -> int | None:
        """How long it took, None where that is not known; a clock that was set back tells nothing."""
        if self.start_ms is None or self.end_ms is None or self.end_ms < self.start_ms:
            return None
        return self.end_ms - self.start_ms


@dataclass(frozen=True, slots=True)
class Timeline:
    """A turn's steps in order, on the scale of its deadline. Times as in `Step`."""

    record: TurnRecord
    steps: tuple[Step, ...]
    deadline_ms: int
    now_ms: int
    ended_ms: int | None
    workers: int
    tokens_used: int
    cost_microdollars: int | None
    is_recorded: bool
    worker_is_silent: bool
    resolution: Resolution | None = None
    is_whole: bool = True

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.record.state != "ended"

    @property
    def last_ms(self) -> int:
        """The end of what can be drawn: the turn's end, or now."""
        return max(0, self.now_ms if self.ended_ms is None else self.ended_ms)

    def count(self, kind: type[What]) -> int:
        """Return how many steps are of this kind."""
        return sum(isinstance(step.what, kind) for step in self.steps)
