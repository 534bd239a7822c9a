"""What is in an export: rows of a list or of a conversation, redacted unless they are to be revealed."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from refund_agent.casebook import CaseSummary
from refund_agent.conversations import Line
from refund_agent.outcomes import RefundRecord

CASE_FIELDS: Final = (
    "kind",
    "id",
    "customer",
    "owner",
    "created_at_ms",
    "changed_at_ms",
    "turns",
    "outcome",
    "said",
    "refunds",
    "rules",
    "flags",
    "waits_for_approval",
)
LINE_FIELDS: Final = ("at_ms", "speaker", "author", "text", "turn_id", "refunds")
_DIGITS: Final = 12

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Hiding:
    """Hides who and what it is about. A name is the same throughout a file, and means nothing outside it."""

    is_on: bool
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def name(self, kind: str, real: str) -> str:
        """Return the name, or one that stands for it in this file."""
        if not (self.is_on and real):
            return real
        digest = hmac.new(self._key, f"{kind} {real}".encode(), hashlib.sha256).hexdigest()
        return f"{kind}-{digest[:_DIGITS]}"

    def text(self, words: str) -> str:
        """Return the words, or how many characters they have."""
        return f"[{len(words)} characters]" if self.is_on and words else words


def case_row(case: CaseSummary, hiding: Hiding) -> Row:
    """Return a case as a row of `CASE_FIELDS`."""
    return {
        "kind": case.kind,
        "id": case.id,
        "customer": hiding.name("customer", case.customer_id),
        "owner": case.owner,
        "created_at_ms": case.created_at_ms,
        "changed_at_ms": case.at_ms,
        "turns": case.turns,
        "outcome": case.outcome,
        "said": hiding.text(case.said),
        "refunds": _refunds(case.refunds, hiding),
        "rules": list(case.rules),
        "flags": case.flags,
        "waits_for_approval": case.waits_for_approval,
    }


def line_row(line: Line, hiding: Hiding) -> Row:
    """Return a line of a conversation as a row of `LINE_FIELDS`."""
    return {
        "at_ms": line.at_ms,
        "speaker": line.speaker,
        "author": hiding.name("author", line.author),
        "text": hiding.text(line.text),
        "turn_id": line.turn_id,
        "refunds": _refunds(() if line.refund is None else (line.refund,), hiding),
    }


def _refunds(records: Sequence[RefundRecord], hiding: Hiding) -> list[Row]:
    return [
        {
            "state": record.state,
            "amount_cents": record.amount_cents,
            "order": hiding.name("order", record.order_id),
            "reference": hiding.name("reference", record.refund_id),
        }
        for record in records
    ]
