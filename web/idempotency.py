"""The `Idempotency-Key` header, as draft-ietf-httpapi-idempotency-key-header has it: a caller may retry."""

import hashlib
import json
import re
from typing import Final

from flask import request

from web.kinds import Kind
from web.problems import Problem, Refused

HEADER: Final = "Idempotency-Key"
MAX_KEY_LENGTH: Final = 255

_QUOTED: Final = re.compile(r'"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])+)"')
"""A Structured Fields string (RFC 9651, section 3.3.3), as the draft has it."""
_BARE: Final = re.compile(r"[A-Za-z0-9._~:+/=-]+")
"""A bare UUID or the like, which most clients send."""


def read_key() -> str:
    """Return the request's key as the store keeps it, or an empty string; refuse a malformed one with 400."""
    given = request.headers.get(HEADER)
    if given is None:
        return ""
    quoted = _QUOTED.fullmatch(given)
    if len(given) > MAX_KEY_LENGTH or not (quoted or _BARE.fullmatch(given)):
        detail = (
            f"{HEADER} must be one quoted string or one plain token of at most {MAX_KEY_LENGTH} characters. "
            "The request was not taken. No refund was sent."
        )
        raise Refused(Problem(Kind.MALFORMED_KEY, detail))
    key = re.sub(r"\\(.)", r"\1", quoted[1]) if quoted else given
    return hashlib.sha256(key.encode()).hexdigest()


def fingerprint(body: dict[str, str]) -> str:
    """Return what tells this body from another, whatever its spacing and the order of its fields."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
