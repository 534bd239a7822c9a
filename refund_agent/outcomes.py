"""Every way a payment call, a claim and a turn can end. How a completion ends is with its port, in `ports`.

Endings are values: match them and close with `assert_never`, so that a new ending does not
type-check until every reader can say what it means.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from refund_agent.policy import Refusal

# --- What payments answered -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Paid:
    """A receipt that matches what was asked: the money moves."""

    refund_id: str
    status: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class Rejected:
    """A definite no from payments; no money moved. `detail` is cleaned and at most 300 characters."""

    detail: str


@dataclass(frozen=True, slots=True)
class NotSent:
    """No byte of the request left this machine, and this turn will not try again."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Asked, and the answer was lost or not understood: the money may have moved.

    `review` marks an answer that probably means "paid" but does not match; `evidence` keeps its
    first 4 kB for the person who resolves it.
    """

    reason: str
    review: bool = False
    evidence: str = ""


RefundError: TypeAlias = Rejected | NotSent | Unknown
"""Every payments-side failure. It counts as the turn's one attempt, like a receipt does."""

PaymentAnswer: TypeAlias = Paid | RefundError

# --- What the ledger says -------------------------------------------------------------------------

GateState: TypeAlias = Literal["closed", "claimed", "paid", "rejected", "not_sent", "unknown"]


@dataclass(frozen=True, slots=True)
class CallPosition:
    """Which tool call of a turn: the n-th completion's i-th call. Ids of a model may repeat; this cannot."""

    completion: int
    index: int

    def __str__(self) -> str:
        """Give the form kept in the ledger, such as `2.0`."""
        return f"{self.completion}.{self.index}"


@dataclass(frozen=True, slots=True)
class RefundRecord:
    """A ledger row: the one write-once decision about a turn's money."""

    turn_id: str
    state: GateState
    order_id: str = ""
    amount_cents: int = 0
    call: str = ""
    refund_id: str = ""
    status: str = ""
    detail: str = ""
    review: bool = False


@dataclass(frozen=True, slots=True)
class Claimed:
    """The turn's one right to send is taken, and committed."""

    record: RefundRecord


@dataclass(frozen=True, slots=True)
class AlreadyDecided:
    """The turn's gate already has a row: attempted before, or closed. Nothing may be sent."""

    record: RefundRecord


@dataclass(frozen=True, slots=True)
class OrderBusy:
    """Another turn's refund of this order is claimed or unknown. Nothing may be sent."""

    order_id: str


@dataclass(frozen=True, slots=True)
class Superseded:
    """This worker no longer owns the turn: it ended, was put off, or another worker resumed it. Stop."""


@dataclass(frozen=True, slots=True)
class RefusedByPolicy:
    """The policy, asked again under the claim's lock, said no or sent it to a person. Nothing is kept."""

    decision: Refusal


ClaimAnswer: TypeAlias = Claimed | AlreadyDecided | OrderBusy | RefusedByPolicy | Superseded

# --- What storing a turn says ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Created:
    """A new turn is stored."""


@dataclass(frozen=True, slots=True)
class Joined:
    """The idempotency key belongs to this turn, which had the same body: nothing new is stored."""

    turn_id: str


@dataclass(frozen=True, slots=True)
class KeyReused:
    """The idempotency key belongs to a turn with another body: nothing is stored."""


@dataclass(frozen=True, slots=True)
class ConversationBusy:
    """Another turn of this conversation has not ended: nothing is stored."""


CreateAnswer: TypeAlias = Created | Joined | KeyReused | ConversationBusy

# --- How a turn ends ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Replied:
    """The assistant's final text; the empty string is a valid reply."""

    text: str


@dataclass(frozen=True, slots=True)
class BudgetExhausted:
    """Five completions were used and there is no final text."""


@dataclass(frozen=True, slots=True)
class ProviderTimedOut:
    """Both attempts timed out."""


@dataclass(frozen=True, slots=True)
class ProviderFailed:
    """The provider answered with something other than a completion, or could not be reached."""

    reason: str


@dataclass(frozen=True, slots=True)
class DeadlinePassed:
    """The turn's own deadline passed first."""


@dataclass(frozen=True, slots=True)
class NotAccepted:
    """The broker did not surely take the turn's message, and the turn was ended: nothing begins it any more.

    A worker may have begun it before that. Its ledger row says whether a refund was attempted; `closed`
    means that none was sent and none ever will be.
    """


@dataclass(frozen=True, slots=True)
class Broken:
    """A bug of ours ended the turn; `reason` is the exception's class name."""

    reason: str


TurnOutcome: TypeAlias = (
    Replied | BudgetExhausted | ProviderTimedOut | ProviderFailed | DeadlinePassed | NotAccepted | Broken
)
