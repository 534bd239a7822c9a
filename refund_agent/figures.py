"""The service's figures: what an operator reads, asked of the database and Redis at the moment of reading."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

LATELY_SECONDS: Final = 15 * 60.0
"""How far back "lately" goes."""
COMPARED_SECONDS: Final = 3600.0
"""How far back turns are compared with the ledger at each reading. Older ones were, when they were new."""
DURATION_BOUNDS_SECONDS: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0)


@dataclass(frozen=True, slots=True)
class Durations:
    """How long ended turns took. `up_to[bound]` counts turns of at most that many seconds, cumulatively.

    The keys of `up_to` are `DURATION_BOUNDS_SECONDS`.
    """

    up_to: Mapping[float, int]
    count: int
    total_seconds: float


@dataclass(frozen=True, slots=True)
class Trouble:
    """What should be zero, or nearly so. Ages are 0 when there is none.

    `unmirrored` counts ledger rows the audit mirror does not show yet; `breaches` names promises that rows
    of the last `COMPARED_SECONDS` contradict. `lately_unanswered` counts those of the turns ended in the last
    `LATELY_SECONDS` that gave their customer no text: failed, or answered with an empty reply.
    """

    oldest_unknown_seconds: float = 0.0
    stuck_turns: int = 0
    expired_leases: int = 0
    unmirrored: int = 0
    oldest_unmirrored_seconds: float = 0.0
    breaches: Mapping[str, int] = field(default_factory=dict[str, int])
    lately_ended: int = 0
    lately_unanswered: int = 0


@dataclass(frozen=True, slots=True)
class StoredFigures:
    """What the database knows. Outcomes and durations are totals: they stay when turns are forgotten."""

    turns_by_outcome: Mapping[str, int]
    open_turns_by_state: Mapping[str, int]
    durations: Durations
    refunds_by_state: Mapping[str, int]
    trouble: Trouble
    approvals_by_state: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class LiveFigures:
    """What Redis knows. `waiting_by_process` counts the requests that wait in each web process.

    `lost_events` counts events of turns that could not be stored, as far as Redis could be told.
    """

    queue_depth: int
    waiting_by_process: Mapping[str, int] = field(default_factory=dict[str, int])
    lost_events: int = 0


class Figures(Protocol):
    """Where the figures come from. Each call answers within a second or two, or raises."""

    def stored(self) -> StoredFigures:
        """Ask the database; raise `StoreUnavailable`."""
        ...

    def live(self) -> LiveFigures:
        """Ask Redis; raise `QueueUnavailable`."""
        ...
