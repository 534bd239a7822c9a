"""How much one customer, one conversation and the whole service may take, and what is said at the limit.

A limiter that cannot be asked admits nobody: a turn that is not taken costs nothing and moves nothing.
"""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

OPEN_TURNS_PER_WORKER_SEAT = 2
"""As many turns may wait as run: a longer queue would only end in time-outs."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits in force. `max_open_turns` of None follows the workers alive: twice what they can run."""

    customer_rate: str = "20/minute"
    max_open_turns: int | None = None
    conversation_tokens: int = 60_000
    customer_daily_tokens: int = 200_000
    conversation_turns: int = 40


@dataclass(frozen=True, slots=True)
class Asking:
    """A turn that somebody asks for. The last two are what its conversation has used; 0 when it is new."""

    customer_id: str
    conversation_turns: int = 0
    conversation_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Admitted:
    """The turn may be stored."""


@dataclass(frozen=True, slots=True)
class TooFast:
    """This customer has sent too many messages lately."""

    retry_after_seconds: int


@dataclass(frozen=True, slots=True)
class TooManyTokens:
    """This customer's tokens for today (UTC) are used up."""

    retry_after_seconds: int


@dataclass(frozen=True, slots=True)
class ConversationFull:
    """This conversation has had its turns or its tokens; a new one may be started at once."""

    used_up: Literal["turns", "tokens"]


@dataclass(frozen=True, slots=True)
class NoRoom:
    """As many turns are open as the workers can serve in time, or no worker is alive."""

    why: Literal["full", "no worker"]
    retry_after_seconds: int


@dataclass(frozen=True, slots=True)
class LimiterAway:
    """The counters cannot be asked; `reason` is the driver's exception class."""

    reason: str


Admission: TypeAlias = Admitted | TooFast | TooManyTokens | ConversationFull | NoRoom | LimiterAway


class Limiter(Protocol):
    """Asked before a turn is stored, and told after it has ended."""

    def admit(self, asking: Asking) -> Admission:
        """Judge one turn, and count it against the customer's rate; never raises."""
        ...

    def spend(self, customer_id: str, tokens: int) -> None:
        """Count an ended turn's tokens against the customer's day; never raises. Losing one is harmless."""
        ...


class StoredUsage(Protocol):
    """What the record in SQL says was used. Each may raise `StoreUnavailable`."""

    def open_turns(self) -> int:
        """Return how many turns, of all agents, can run now or soon.

        Those past their deadline cannot, and those that were put off wait for their time, not for a worker.
        """
        ...

    def tokens_today(self, customer_id: str) -> int:
        """Return the tokens of the customer's support turns since midnight UTC, by database time."""
        ...
