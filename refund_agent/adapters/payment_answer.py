"""What an answer of the payments service means: a pure reading, no network.

Payments has no idempotency key, so a wrong guess here costs money. The definite is recognised; the
rest is `Unknown`. The rules are the table "What counts, for the payments call" of docs/faults.toml.
"""

import re
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from refund_agent import strict_json
from refund_agent.adapters.clean_text import clean_detail, hide
from refund_agent.outcomes import Paid, PaymentAnswer, Rejected, Unknown
from refund_agent.plain_text import has_unseen_characters

MAX_BODY_BYTES: Final = 64 * 1024
MAX_EVIDENCE_BYTES: Final = 4096
MAX_REFUND_ID_LENGTH: Final = 255
MAX_STATUS_LENGTH: Final = 100

RECEIPT_STATUSES: Final = frozenset({200, 201})
NO_STATUSES: Final = frozenset({400, 401, 403, 404, 405, 413, 414, 415, 422})
"""Definite, if payments itself says so in JSON; a gateway's page may come after it forwarded the call."""

BUSY_STATUSES: Final = frozenset({425, 429})
"""Decided before any processing, whoever decided it."""

LOCKED_OUT_STATUSES: Final = frozenset({401, 403})
"""Our credentials are wrong: nothing a customer could fix, and somebody must be told."""

_SAYS_FAILED: Final = re.compile(
    r"abort|blocked|bounce|cancel|declin|denied|error|expire|fail|invalid|refus|reject|returned|revers"
    r"|unable|unpaid|unsuccess|void|\b(?:ko|no|nok|not)\b",
    re.IGNORECASE,
)
_BETWEEN_WORDS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]+")

_Problem: TypeAlias = str


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An HTTP answer as far as it came. `cut` says why the body is not whole; it is empty when it is."""

    status: int
    body: bytes
    content_encoding: str = ""
    cut: str = ""


def read_answer(answer: HttpAnswer, *, amount_cents: int, secret: str = "") -> PaymentAnswer:
    """Say what `answer` means for a refund of `amount_cents`; `secret` is kept out of what is told."""
    looks_paid = answer.status in RECEIPT_STATUSES
    evidence = _evidence(answer.body, secret)
    if answer.cut:
        return Unknown(f"HTTP {answer.status}, {answer.cut}", review=looks_paid, evidence=evidence)
    if answer.content_encoding.strip().lower() not in {"", "identity"}:
        return Unknown(f"HTTP {answer.status}, encoded body", review=looks_paid, evidence=evidence)
    if looks_paid:
        receipt = _read_receipt(answer.body, amount_cents)
        if isinstance(receipt, Paid):
            return receipt
        return Unknown(f"HTTP {answer.status}, {receipt}", review=True, evidence=evidence)
    if answer.status in BUSY_STATUSES:
        return Rejected("payments is busy, not refunded")
    if answer.status in NO_STATUSES:
        refusal = _read_refusal(answer, secret)
        return refusal or Unknown(f"HTTP {answer.status} without a reason", evidence=evidence)
    return Unknown(f"HTTP {answer.status}", evidence=evidence)


def _read_receipt(body: bytes, amount_cents: int) -> Paid | _Problem:
    """Return the receipt if it is whole and matches, else what is wrong; never quotes a figure of it."""
    receipt = _object(body)
    if receipt is None:
        return "not a JSON object"
    refund_id, status = receipt.get("refund_id"), receipt.get("status")
    if not isinstance(refund_id, str) or not _is_plain(refund_id, MAX_REFUND_ID_LENGTH):
        return "no usable refund_id"
    if type(receipt.get("amount_cents")) is not int or receipt["amount_cents"] != amount_cents:
        return "another amount"
    if not isinstance(status, str) or (status and not _is_plain(status, MAX_STATUS_LENGTH)):
        return "no usable status"
    if _says_failed(status):
        return "a status that says failed"
    return Paid(refund_id=refund_id, status=status, amount_cents=amount_cents)


def _read_refusal(answer: HttpAnswer, secret: str) -> Rejected | None:
    """Return the refusal if the body is payments' own `{"detail": ...}`."""
    refusal = _object(answer.body)
    detail = None if refusal is None else refusal.get("detail")
    if not isinstance(detail, str | list | dict):
        return None
    if answer.status in LOCKED_OUT_STATUSES:
        return Rejected("payments is unavailable")
    return Rejected(clean_detail(cast("str | list[object] | dict[str, object]", detail), secret=secret))


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        value = strict_json.parse(body, max_bytes=MAX_BODY_BYTES)
    except strict_json.NotJson:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _is_plain(text: str, max_length: int) -> bool:
    """Whether the text is non-blank, short, and free of control and invisible characters."""
    if not text.strip() or len(text) > max_length:
        return False
    return not has_unseen_characters(text)


def _says_failed(status: str) -> bool:
    """Whether any word of the status says no: `FAILED`, `refund-declined`, `notRefunded`."""
    return _SAYS_FAILED.search(_BETWEEN_WORDS.sub(" ", status)) is not None


def _evidence(body: bytes, secret: str) -> str:
    """Keep the start of an answer for the person who resolves it, in a form any database takes."""
    text = body[:MAX_EVIDENCE_BYTES].decode("utf-8", errors="replace").replace("\x00", "\ufffd")
    return hide(text, secret)
