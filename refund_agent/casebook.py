"""What staff look through: conversations, and turns that belong to none, found by what is known of them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from refund_agent.conversations import Owner
from refund_agent.outcomes import GateState, RefundRecord
from refund_agent.policy import RuleName

CaseKind: TypeAlias = Literal["conversation", "turn"]
OutcomeName: TypeAlias = Literal[
    "unfinished",
    "replied",
    "budget_exhausted",
    "provider_timed_out",
    "provider_failed",
    "deadline_passed",
    "not_accepted",
    "broken",
]
"""How a turn ended, as the table has it; `unfinished` while it has not."""

QueueName: TypeAlias = Literal["approvals", "unknown", "stuck"]
MAX_WORDS_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class Sought:
    """What is looked for; what is left empty does not matter.

    `words` are part of what was said, or of the customer's id; or they are the whole id of a conversation or
    a turn. `outcome`, `rule`, `refund` and `flagged` are met by any turn of a conversation.
    """

    words: str = ""
    customer_id: str = ""
    outcome: OutcomeName | Literal[""] = ""
    rule: RuleName | Literal[""] = ""
    refund: GateState | Literal[""] = ""
    flagged: bool = False
    owner: Owner | Literal[""] = ""
    younger_than_seconds: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a list, which is newest first; a page begins after it."""

    at_ms: int
    id: str


@dataclass(frozen=True, slots=True)
class CaseSummary:
    """A conversation with its turns, or one turn without a conversation. Times are ms of database time.

    `outcome` and `said`, the customer's words, are those of the newest turn. `rules` are the policy's
    objections, each once.
    """

    kind: CaseKind
    id: str
    customer_id: str
    owner: Owner
    created_at_ms: int
    at_ms: int
    turns: int = 0
    outcome: OutcomeName = "unfinished"
    said: str = ""
    refunds: tuple[RefundRecord, ...] = ()
    rules: tuple[str, ...] = ()
    flags: int = 0
    waits_for_approval: bool = False

    @property
    def mark(self) -> Mark:
        """Its place in the list."""
        return Mark(self.at_ms, self.id)


@dataclass(frozen=True, slots=True)
class CasePage:
    """Cases, newest first. `following` begins the next page, None when there is none.

    `searched_to_ms` is set when the search stopped at its limit of rows: nothing older was looked at yet.
    """

    cases: tuple[CaseSummary, ...]
    following: Mark | None
    searched_to_ms: int | None = None


class Casebook(Protocol):
    """Reads for the console; any call may raise `StoreUnavailable`."""

    def page(self, kind: CaseKind, sought: Sought, *, before: Mark | None, limit: int) -> CasePage:
        """Return a page of cases. It costs a fixed number of statements over a limited number of rows."""
        ...

    def waiting(self) -> Mapping[QueueName, int]:
        """Count what waits for a person, queue by queue."""
        ...

    def currencies(self, order_ids: Collection[str]) -> Mapping[str, str]:
        """Return the currency of each of the orders that the database has."""
        ...
