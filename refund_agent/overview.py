"""How the service does over time: figures of a window, and of the equal parts that it is cut into."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

HOUR_MS: Final = 3600 * 1000
DAY_MS: Final = 24 * HOUR_MS

WindowName: TypeAlias = Literal["24h", "7d", "30d"]


@dataclass(frozen=True, slots=True)
class Window:
    """So many parts of a length; the present one is the last. Parts begin at whole multiples, in UTC."""

    parts: int
    part_ms: int

    def begins_at_ms(self, now_ms: int) -> int:
        """Return when the first part begins."""
        return (now_ms // self.part_ms - self.parts + 1) * self.part_ms


WINDOWS: Final[Mapping[WindowName, Window]] = {
    "24h": Window(24, HOUR_MS),
    "7d": Window(28, 6 * HOUR_MS),
    "30d": Window(30, DAY_MS),
}


@dataclass(frozen=True, slots=True)
class PeriodFigures:
    """The figures of one stretch of time.

    `allowed` and `denied` count turns in which the policy said so at least once; `approvals` are refunds that
    wait or waited for a decision, `handed_over` conversations given to a person. `paid` and `unknown` count
    refunds by what their ledger row says now. `flagged` and `corrected` count turns.
    `cost_microdollars` is that of `priced_completions`: those of turns in which each one had a price.
    Times are of ended turns, from stored to ended; None when there is none.
    """

    conversations: int = 0
    turns: int = 0
    replied: int = 0
    allowed: int = 0
    denied: int = 0
    approvals: int = 0
    handed_over: int = 0
    paid: int = 0
    unknown: int = 0
    flagged: int = 0
    corrected: int = 0
    tokens: int = 0
    cost_microdollars: int = 0
    completions: int = 0
    priced_completions: int = 0
    median_ms: int | None = None
    slowest_twentieth_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """A window's figures in all, and in each of its parts, oldest first."""

    begins_at_ms: int
    part_ms: int
    total: PeriodFigures
    parts: tuple[PeriodFigures, ...]


class Overviews(Protocol):
    """Where figures over time are asked; raises `StoreUnavailable`."""

    def over(self, window: Window) -> Overview:
        """Return the overview of a window that ends now, in a fixed number of questions."""
        ...
