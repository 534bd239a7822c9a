"""Rows to values and back: how an outcome, a ledger row and a turn are written in the tables."""

from collections.abc import Sequence
from typing import Any, assert_never

from sqlalchemy import BindParameter, bindparam, select

from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.outcomes import (
    Broken,
    BudgetExhausted,
    DeadlinePassed,
    NotAccepted,
    NotSent,
    Paid,
    PaymentAnswer,
    ProviderFailed,
    ProviderTimedOut,
    RefundRecord,
    Rejected,
    Replied,
    TurnOutcome,
    Unknown,
)
from refund_agent.turn import Turn, encode_messages

RECORD_COLUMNS = (
    refunds.c.turn_id,
    refunds.c.state,
    refunds.c.order_id,
    refunds.c.amount_cents,
    refunds.c.call,
    refunds.c.refund_id,
    refunds.c.status,
    refunds.c.detail,
    refunds.c.review,
)
"""In the order of `RefundRecord`'s fields."""

UNENDED = turns.c.state.in_(("stored", "queued", "running"))
"""Turns that have not ended; named state by state, as the index is by state."""

# Statements are built once, at import: building one costs more CPU than running it.
OWN_TURN: BindParameter[str] = bindparam("own_turn")
OWN_EPOCH: BindParameter[int] = bindparam("own_epoch")
OWNED = (turns.c.id == OWN_TURN) & (turns.c.epoch == OWN_EPOCH) & (turns.c.state == "running")
"""The turn, if this owner's epoch still holds it. Give `owned_progress` for its parameters."""

FIND_REFUND = select(*RECORD_COLUMNS).where(refunds.c.turn_id == OWN_TURN)

_NAMES: dict[type[TurnOutcome], str] = {
    Replied: "replied",
    BudgetExhausted: "budget_exhausted",
    ProviderTimedOut: "provider_timed_out",
    ProviderFailed: "provider_failed",
    DeadlinePassed: "deadline_passed",
    NotAccepted: "not_accepted",
    Broken: "broken",
}


def refund_record(row: Sequence[Any]) -> RefundRecord:
    """Read a ledger row selected by `RECORD_COLUMNS`."""
    return RefundRecord(*row)


def owned_progress(turn: Turn) -> dict[str, object]:
    """Write what a checkpoint keeps, as the parameters of an UPDATE where `OWNED`."""
    return {
        "own_turn": turn.id,
        "own_epoch": turn.epoch,
        "transcript": encode_messages(turn.messages),
        "completions_used": turn.completions_used,
        "attempts": turn.attempts,
        "tokens_used": turn.tokens_used,
        "cost_microdollars": turn.cost_microdollars,
    }


def outcome_columns(outcome: TurnOutcome) -> dict[str, str | None]:
    """Write an ending as the columns `outcome`, `reply` and `reason`."""
    reply = outcome.text if isinstance(outcome, Replied) else None
    reason = outcome.reason if isinstance(outcome, ProviderFailed | Broken) else None
    return {"outcome": _NAMES[type(outcome)], "reply": reply, "reason": reason}


def read_outcome(name: str | None, reply: str | None, reason: str | None) -> TurnOutcome | None:
    """Read the ending back; None while the turn has not ended."""
    match name:
        case None:
            return None
        case "replied":
            return Replied(reply or "")
        case "budget_exhausted":
            return BudgetExhausted()
        case "provider_timed_out":
            return ProviderTimedOut()
        case "provider_failed":
            return ProviderFailed(reason or "")
        case "deadline_passed":
            return DeadlinePassed()
        case "not_accepted":
            return NotAccepted()
        case "broken":
            return Broken(reason or "")
        case _:
            raise ValueError(f"a turn has an unknown outcome: {name}")


def answer_columns(answer: PaymentAnswer) -> dict[str, str | bool]:
    """Write what payments answered as the columns of a settled row."""
    match answer:
        case Paid(refund_id, status, _):
            return {"state": "paid", "refund_id": refund_id, "status": status}
        case Rejected(detail):
            return {"state": "rejected", "detail": detail}
        case NotSent(reason):
            return {"state": "not_sent", "detail": reason}
        case Unknown(reason, review, evidence):
            return {"state": "unknown", "detail": reason, "review": review, "evidence": evidence}
        case _:
            assert_never(answer)
