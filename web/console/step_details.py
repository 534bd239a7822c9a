"""What a step was about: its facts, the texts in it, and the rules that were asked."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from refund_agent.money import write_cents
from refund_agent.outcomes import Broken, ProviderFailed, RefundRecord, Replied
from refund_agent.timeline import Timeline
from refund_agent.turn_steps import (
    ClaimTried,
    Completion,
    Corrected,
    Ending,
    Flagged,
    Judged,
    Sent,
    ToolUse,
    What,
)
from web.console.step_words import REFUNDS, name_rule, write_fact
from web.console.writing import write_cost

LONG_TEXT: Final = 400
"""A longer text is folded."""


@dataclass(frozen=True, slots=True)
class Block:
    """A text as somebody or something wrote it, never to be read as HTML."""

    name: str
    text: str

    @property
    def is_long(self) -> bool:
        """Whether it is folded."""
        return len(self.text) > LONG_TEXT


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the policy as it was asked."""

    name: str
    verdict: str
    facts: tuple[tuple[str, str], ...]


def facts_of(what: What, currency: str) -> Iterator[tuple[str, str]]:
    """Yield names and values."""
    if isinstance(what, Completion):
        yield "Attempt", "not recorded" if what.attempt is None else str(what.attempt)
        yield "Tokens", _tokens(what)
        yield "Cost", write_cost(what.cost_microdollars)
        if what.model:
            yield "Model", what.model
        if what.calls:
            yield "Asked for", ", ".join(what.calls)
        if what.truncated:
            yield "Cut", "the answer reached its length limit, so its calls were not run"
        if what.problem:
            yield "Problem", what.problem
    elif isinstance(what, ToolUse):
        yield "Call", f"{what.call} ({what.tool})"
    elif isinstance(what, Judged):
        yield "Policy version", what.version
    elif isinstance(what, ClaimTried):
        yield "Order", what.order_id
        yield "Amount", write_cents(what.amount_cents, currency)
    elif isinstance(what, Sent):
        yield from refund_facts(what.record, currency)


def _tokens(made: Completion) -> str:
    if made.tokens is None:
        return "not known"
    return f"{made.tokens} ({made.read_tokens} read)" if made.read_tokens else str(made.tokens)


def refund_facts(record: RefundRecord, currency: str) -> Iterator[tuple[str, str]]:
    """Tell a ledger row."""
    yield "Ledger", REFUNDS[record.state][0]
    yield "Order", record.order_id
    yield "Amount", write_cents(record.amount_cents, currency)
    if record.refund_id:
        yield "Reference", record.refund_id
    if record.status:
        yield "Status at payments", record.status
    if record.detail:
        yield "Detail", record.detail
    if record.review:
        yield "Look closely", "an answer came that may mean that the money moved"


def blocks_of(what: What) -> Iterator[Block]:
    """Yield the texts that there are."""
    return (block for block in _blocks(what) if block.text)


def _blocks(what: What) -> Iterator[Block]:
    match what:
        case Completion(text=text):
            yield Block("Said", text)
        case ToolUse(arguments=arguments, result=result):
            yield Block("Arguments", _pretty(arguments))
            yield Block("Result", _pretty(result))
        case Judged(because=because):
            yield Block("Because", because)
        case Flagged(excerpt=excerpt):
            yield Block("Words", excerpt)
        case Corrected(sentence):
            yield Block("Taken out", sentence)
        case Ending(Replied(text)):
            yield Block("Reply", text)
        case Ending(ProviderFailed(reason) | Broken(reason)):
            yield Block("Reason", reason)
        case _:
            pass


def rules_of(what: What) -> Iterator[Rule]:
    """Yield the rules in the order in which they were asked."""
    for found in what.findings if isinstance(what, Judged) else ():
        currency = dict(found.facts).get("currency", "")
        facts = tuple(
            (name_rule(name.removesuffix("_cents")), write_fact(name, value, currency))
            for name, value in found.facts
            if name != "currency"
        )
        yield Rule(name_rule(found.rule).capitalize(), found.verdict, facts)


def _pretty(text: str) -> str:
    """Spread JSON over lines; what is none stays as it was written."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def currency_of(timeline: Timeline) -> str:
    """Return the currency of the order that the policy looked at, or nothing: the ledger keeps none."""
    looked_at = (
        dict(found.facts).get("currency", "")
        for step in timeline.steps
        if isinstance(step.what, Judged)
        for found in step.what.findings
    )
    return next(filter(None, looked_at), "")
