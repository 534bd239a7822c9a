"""Honest replies: what the customer reads about money is made by code from the ledger.

The model's words are kept where they are true. A sentence that claims a refund which this turn's ledger
row does not back, or another amount, is taken out, the correction says so, and it is recorded.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, assert_never

from refund_agent.claims import amounts_cents, claims_money_moved, sentences, speaks_of_money
from refund_agent.money import write_cents
from refund_agent.notices import (
    CHECKED,
    CHECKED_NOT_REFUNDED,
    CORRECTED_BELOW,
    CORRECTION,
    NO_REFUND,
    NOT_CERTAIN,
    NOT_DECIDED_YET,
    NOT_MADE,
    SENT,
    SENT_WITH_STATUS,
)
from refund_agent.outcomes import RefundRecord
from refund_agent.turn import AssistantMessage, Message

_IDENTIFIERS: Final = re.compile(
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b(?:issue_refund|check_refund_eligibility|get_my_profile|list_orders|get_order|escalate_to_human)\b(?:\(\))?"
    r"|\b(?:order_id|amount_cents|refund_id|turn_id|tool_call_id|conversation_id)\b"
    r"|\bcall_[A-Za-z0-9]{6,}\b|\bsk-[A-Za-z0-9_-]{8,}\b|\bBearer\s+\S+",
    re.IGNORECASE,
)
_PLAIN: Final = {
    "issue_refund": "the refund",
    "check_refund_eligibility": "the check",
    "get_my_profile": "your profile",
    "list_orders": "your orders",
    "get_order": "your order",
    "escalate_to_human": "a colleague",
    "order_id": "order number",
    "amount_cents": "amount",
    "refund_id": "reference",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """What the customer reads; `corrections` are the sentences that were taken out, for the record."""

    text: str
    corrections: tuple[str, ...] = field(default=())


def honest_reply(
    text: str, *, messages: Sequence[Message], refund: RefundRecord | None, currency: str, escalated: bool
) -> Reply:
    """Return the reply to a turn: the model's true words, and the status line made from the ledger."""
    record = None if refund is None or refund.state == "closed" else refund
    kept, taken_out = _check(text, record)
    words = without_identifiers("".join(kept)).strip()
    lines = [words] if words else []
    if taken_out and (record is None or record.state != "paid"):
        lines.append(CORRECTION.say() if record is None else CORRECTED_BELOW.say())
    if record is not None:
        lines.append(status_line(record, currency))
    elif escalated:
        lines.append(NOT_DECIDED_YET.say())
    elif not taken_out and _money_was_discussed(text, messages):
        lines.append(NO_REFUND.say())
    return Reply("\n\n".join(lines), tuple(taken_out))


def status_line(record: RefundRecord, currency: str) -> str:
    """Say what became of a refund, from its ledger row: amount, order, reference."""
    amount, order = write_cents(record.amount_cents, currency), record.order_id
    match record.state:
        case "paid" if record.status:
            return SENT_WITH_STATUS.say(
                amount=amount, order=order, reference=record.refund_id, status=record.status
            )
        case "paid":
            return SENT.say(amount=amount, order=order, reference=record.refund_id)
        case "claimed" | "unknown":
            return NOT_CERTAIN.say(amount=amount, order=order)
        case "rejected" | "not_sent":
            return NOT_MADE.say(amount=amount, order=order)
        case "closed":
            return CORRECTION.say()
        case _:
            assert_never(record.state)


def resolution_line(record: RefundRecord, currency: str) -> str:
    """Say what a person has found out about a refund whose outcome was unknown."""
    if record.state == "paid":
        return CHECKED.say(refund=status_line(record, currency))
    return CHECKED_NOT_REFUNDED.say(amount=write_cents(record.amount_cents, currency), order=record.order_id)


def without_claims(text: str) -> str:
    """Take out internal names, and sentences that say that money moved: no ledger row backs them."""
    return without_identifiers("".join(s for s in sentences(text) if not claims_money_moved(s))).strip()


def without_identifiers(text: str) -> str:
    """Take out internal names and ids, which help no customer."""
    return _IDENTIFIERS.sub(lambda found: _PLAIN.get(found[0].rstrip("()").lower(), ""), text)


def _check(text: str, record: RefundRecord | None) -> tuple[list[str], list[str]]:
    kept: list[str] = []
    taken_out: list[str] = []
    for sentence in sentences(text):
        unbacked = claims_money_moved(sentence) and not _is_backed(sentence, record)
        (taken_out if unbacked else kept).append(sentence)
    return kept, [sentence.strip() for sentence in taken_out]


def _is_backed(sentence: str, record: RefundRecord | None) -> bool:
    """Whether the ledger says what the sentence says: paid, and no other amount."""
    if record is None or record.state != "paid":
        return False
    return amounts_cents(sentence) <= {record.amount_cents}


def _money_was_discussed(text: str, messages: Sequence[Message]) -> bool:
    """Whether money is spoken of, or a tool was used: any but the one that only fetches a colleague."""
    calls = (call for m in messages if isinstance(m, AssistantMessage) for call in m.tool_calls)
    return any(call.name != "escalate_to_human" for call in calls) or speaks_of_money(text)
