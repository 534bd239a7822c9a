"""What each step of a turn is called, in the words of those who work in support."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, assert_never

from refund_agent.money import write_cents
from refund_agent.outcomes import (
    Broken,
    BudgetExhausted,
    DeadlinePassed,
    GateState,
    NotAccepted,
    ProviderFailed,
    ProviderTimedOut,
    RefundRecord,
    Replied,
    TurnOutcome,
)
from refund_agent.turn import MAX_ATTEMPTS, MAX_COMPLETIONS
from refund_agent.turn_steps import (
    Backoff,
    ClaimTried,
    Completion,
    Corrected,
    Ending,
    Flagged,
    HandedOff,
    Judged,
    Lapsed,
    Noted,
    Sent,
    ToolUse,
    Unattended,
    Waiting,
    What,
)

Family: TypeAlias = Literal["wait", "think", "tool", "policy", "money", "note", "end"]
"""What a step's bar is coloured by."""

Tone: TypeAlias = Literal["", "good", "bad", "doubt"]

_TOOLS: Final[Mapping[str, str]] = {
    "get_my_profile": "Looked up the customer",
    "list_orders": "Looked up the orders",
    "get_order": "Looked up an order",
    "check_refund_eligibility": "Asked what the policy says",
    "issue_refund": "Wanted to refund",
    "escalate_to_human": "Handed to a person",
}
DECISIONS: Final[Mapping[str, tuple[str, Tone]]] = {
    "approved": ("within the policy", "good"),
    "denied": ("denied", "bad"),
    "escalated": ("a person must decide", "doubt"),
    "needs_approval": ("a person must decide", "doubt"),
}
_CLAIMS: Final[Mapping[str, tuple[str, Tone]]] = {
    "claimed": ("Cleared to send", ""),
    "already_decided": ("Not sent: this message's refund was decided before", "bad"),
    "order_busy": ("Not sent: the order's last refund is not confirmed yet", "doubt"),
    "refused_by_policy": ("Not sent: not cleared by the policy", "doubt"),
    "superseded": ("Not sent: another worker has the turn", ""),
}
REFUNDS: Final[Mapping[GateState, tuple[str, Tone]]] = {
    "closed": ("No refund, and none will follow", ""),
    "claimed": ("Payments is being asked", "doubt"),
    "paid": ("Paid", "good"),
    "rejected": ("Rejected by payments, no money moved", "bad"),
    "not_sent": ("Not sent, no money moved", "bad"),
    "unknown": ("Not known whether the money moved", "doubt"),
}


def name_step(what: What, refund: RefundRecord | None = None) -> tuple[str, Family, Tone]:
    """Return a step's name, what colours it, and whether it is good or bad news.

    `refund` is the turn's: a tool that asked for it has not failed while nobody knows what became of it.
    """
    match what:
        case Waiting() | Unattended() | Backoff():
            return _name_wait(what)
        case Completion():
            return _name_completion(what)
        case ToolUse():
            return _name_tool(what, refund)
        case Judged() | ClaimTried() | Sent() | Lapsed():
            return _name_money(what)
        case Flagged() | Corrected() | HandedOff() | Noted():
            return _name_note(what)
        case Ending(outcome):
            name, tone = name_outcome(outcome)
            return name, "end", tone
        case _:
            assert_never(what)


def _name_wait(what: Waiting | Unattended | Backoff) -> tuple[str, Family, Tone]:
    match what:
        case Waiting():
            return "Waited for a worker", "wait", ""
        case Unattended(worker):
            return f"Worker {worker} was lost: waited for the next one", "wait", "doubt"
        case Backoff(attempt):
            return f"Paused before attempt {attempt} of {MAX_ATTEMPTS}", "wait", ""
        case _:
            assert_never(what)


def _name_note(what: Flagged | Corrected | HandedOff | Noted) -> tuple[str, Family, Tone]:
    match what:
        case Flagged(kind):
            return f"Flagged: {kind.replace('_', ' ')}", "note", "doubt"
        case Corrected():
            return "Took out what the ledger does not back", "note", "doubt"
        case HandedOff():
            return "Handed to a person", "note", ""
        case Noted(kind):
            return kind.replace("_", " ").capitalize(), "note", ""
        case _:
            assert_never(what)


def _name_completion(made: Completion) -> tuple[str, Family, Tone]:
    name = f"Thought, completion {made.number} of {MAX_COMPLETIONS}"
    if made.timed_out:
        return f"{name}: timed out", "think", "bad"
    if made.problem:
        return f"{name}: failed", "think", "bad"
    return (f"{name}: cut short", "think", "doubt") if made.truncated else (name, "think", "")


def _name_tool(use: ToolUse, refund: RefundRecord | None) -> tuple[str, Family, Tone]:
    name = _TOOLS.get(use.tool, f"Asked for a tool that does not exist: {use.tool}")
    if use.ok is not False:
        return name, "tool", ""
    its_state = refund.state if refund is not None and refund.call == use.call else ""
    if its_state in {"claimed", "unknown", "paid"}:  # paid: somebody found out later
        return f"{name}: no clear answer", "tool", "doubt"
    return f"{name}: answered with an error", "tool", "bad"


def _name_money(what: Judged | ClaimTried | Sent | Lapsed) -> tuple[str, Family, Tone]:
    match what:
        case Judged():
            said, tone = DECISIONS.get(what.decision, (what.decision, ""))
            return f"Policy: {said}{f' ({name_rule(what.rule)})' if what.rule else ''}", "policy", tone
        case ClaimTried():
            name, tone = _CLAIMS.get(what.answer, (what.answer, ""))
            return name, "money", tone
        case Sent():
            name, tone = REFUNDS[what.record.state]
            return f"Asked payments: {name[0].lower()}{name[1:]}", "money", tone
        case Lapsed():
            return "Given up as unknown: the worker that asked payments was lost", "money", "doubt"
        case _:
            assert_never(what)


def name_outcome(outcome: TurnOutcome) -> tuple[str, Tone]:
    """Say how a turn ended."""
    match outcome:
        case Replied():
            return "Replied", "good"
        case BudgetExhausted():
            return f"No reply: all {MAX_COMPLETIONS} completions were used", "bad"
        case ProviderTimedOut():
            return f"No reply: the model timed out in all {MAX_ATTEMPTS} attempts", "bad"
        case ProviderFailed():
            return "No reply: the model could not be asked", "bad"
        case DeadlinePassed():
            return "No reply: the deadline passed", "bad"
        case NotAccepted():
            return "Not taken: it could not be queued, and never ran", "bad"
        case Broken():
            return "No reply: a fault of ours", "bad"
        case _:
            assert_never(outcome)


def name_rule(rule: str) -> str:
    """Return a rule's name as words."""
    return rule.replace("_", " ")


def write_fact(name: str, value: str, currency: str) -> str:
    """Write one fact of a rule: cents as an amount, a truth value as yes or no."""
    if name.endswith("_cents") and value.removeprefix("-").isdecimal():
        return write_cents(int(value), currency)
    return {"True": "yes", "False": "no", "": "none"}.get(value, value)
