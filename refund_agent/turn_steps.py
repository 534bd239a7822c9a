"""What a step of a turn was: one small value for each thing that a turn can do."""

from dataclasses import dataclass
from typing import TypeAlias

from refund_agent.outcomes import RefundRecord, TurnOutcome


@dataclass(frozen=True, slots=True)
class Waiting:
    """The turn waits for its first worker."""


@dataclass(frozen=True, slots=True)
class Unattended:
    """From the last sign of one worker to the next one's beginning: it died, stopped, or lost its lease."""

    worker: int


@dataclass(frozen=True, slots=True)
class Completion:
    """One completion, `number` of five. `problem` is empty when there is an answer.

    `tokens` and `cost_microdollars` are None where they are not known.
    """

    number: int
    attempt: int | None = None
    text: str = ""
    calls: tuple[str, ...] = ()
    truncated: bool = False
    problem: str = ""
    timed_out: bool = False
    model: str = ""
    tokens: int | None = None
    read_tokens: int | None = None
    cost_microdollars: int | None = None


@dataclass(frozen=True, slots=True)
class Backoff:
    """The pause before attempt number `attempt`."""

    attempt: int


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One tool call, with what the model wrote and what it was answered; `ok` None: there is no answer."""

    call: str
    tool: str
    arguments: str
    result: str = ""
    ok: bool | None = None


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """One rule's verdict, and the facts that it looked at as text."""

    rule: str
    verdict: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """The policy's word, with the rules that were asked; `because` is its sentence, where it was told."""

    call: str
    decision: str
    version: str
    rule: str = ""
    because: str = ""
    findings: tuple[RuleFinding, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimTried:
    """The one right to send was asked for. `answer` is `claimed` when it was given."""

    call: str
    order_id: str
    amount_cents: int
    answer: str


@dataclass(frozen=True, slots=True)
class Sent:
    """Payments was asked, from the claim to the settled row; `record` is the ledger's."""

    record: RefundRecord


@dataclass(frozen=True, slots=True)
class Lapsed:
    """The sweeper gave the claim up: its worker died before it could settle."""


@dataclass(frozen=True, slots=True)
class Flagged:
    """The customer's words look like steering the model."""

    kind: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class Corrected:
    """A sentence that the ledger does not back was taken out of the reply."""

    sentence: str


@dataclass(frozen=True, slots=True)
class HandedOff:
    """The conversation went to a person."""


@dataclass(frozen=True, slots=True)
class Noted:
    """An event of a kind that has no step of its own."""

    kind: str


@dataclass(frozen=True, slots=True)
class Ending:
    """How the turn ended."""

    outcome: TurnOutcome


What: TypeAlias = (
    Waiting
    | Unattended
    | Completion
    | Backoff
    | ToolUse
    | Judged
    | ClaimTried
    | Sent
    | Lapsed
    | Flagged
    | Corrected
    | HandedOff
    | Noted
    | Ending
)
