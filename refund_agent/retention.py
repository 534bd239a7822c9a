"""Forgetting old conversations. The ledger, what people resolved in it, and approvals are never forgotten.

What still has something open is kept, however old: a turn that runs, a refund that is claimed or whose
outcome is unknown, an approval that is pending. A conversation goes as a whole or not at all.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Final, Protocol

MAX_STEPS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Tally:
    """Rows that were deleted, or that a dry run found."""

    conversations: int = 0
    turns: int = 0
    events: int = 0
    entries: int = 0

    def plus(self, other: "Tally") -> "Tally":
        """Return the sum."""
        return Tally(
            self.conversations + other.conversations,
            self.turns + other.turns,
            self.events + other.events,
            self.entries + other.entries,
        )

    def __str__(self) -> str:
        return (
            f"{self.conversations} conversations with {self.entries} entries, "
            f"{self.turns} turns with {self.events} events"
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a step ended: the time and id of its last row."""

    at_ms: int
    id: str


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch. `end` is None when there was nothing left."""

    tally: Tally
    end: Place | None


class Retention(Protocol):
    """The stores, as forgetting sees them. Each call is one transaction and may raise `StoreUnavailable`."""

    def conversations(self, *, older_than_days: int, after: Place | None, dry_run: bool) -> Batch:
        """Delete some conversations with their turns, events and entries, oldest first; or count them."""
        ...

    def lone_turns(self, *, older_than_days: int, after: Place | None, dry_run: bool) -> Batch:
        """Delete some ended turns that belong to no conversation, with their events; or count them."""
        ...


def purge(retention: Retention, *, older_than_days: int, dry_run: bool) -> Generator[Tally]:
    """Forget batch by batch, giving the sum so far after each; stop between any two as you like."""
    done = Tally()
    for kind in (retention.conversations, retention.lone_turns):
        after: Place | None = None
        for _ in range(MAX_STEPS):
            step = kind(older_than_days=older_than_days, after=after, dry_run=dry_run)
            if step.end is None:
                break
            done, after = done.plus(step.tally), step.end
            yield done
