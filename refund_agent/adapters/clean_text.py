"""Text from an outside system, made fit for a model and a customer to read."""

import json
import re
import unicodedata
from typing import Final

MAX_DETAIL_LENGTH: Final = 300
MAX_READ_LENGTH: Final = 4000
"""How much of a text is looked at; bounds the time the patterns below take."""

HIDDEN: Final = "[hidden]"
NO_DETAIL: Final = "no reason given"
INTERNAL_ERROR: Final = "an internal error report (hidden)"

_STACK_TRACE: Final = re.compile(
    r"""
    Traceback\ \(most\ recent\ call\ last\)
    | \bFile\ "[^"\n]{1,300}",\ line\ \d          # Python
    | \bat\ [\w.$<>\[\]`/ ]{1,200}\([^()\n]{1,300}:\d+(:\d+)?\)   # Java, JavaScript
    | \bat\ [\w.<>`]{1,200}\([^()\n]{0,300}\)\ in\ \S{1,300}:line\ \d    # .NET
    | \bgoroutine\ \d+\ \[
    | \b(Stack\ ?trace|Caused\ by)\s?:
    | \bException\ in\ thread\b
    | \#\d+\ /\S{1,300}\(\d+\)                    # PHP
    | \S{1,300}\.rb:\d+:in\b                      # Ruby
    """,
    re.VERBOSE | re.IGNORECASE,
)

_SECRET: Final = re.compile(
    r"""
    \b(?:Bearer|Basic|Digest)\s+[^\s"',;]+
    | \b(?:sk|pk|rk|whsec|ghp|gho|github_pat|glpat|xox[abpr])[-_][\w-]{6,}
    | \bAKIA[0-9A-Z]{12,}
    | \beyJ[\w-]{8,}(?:\.[\w-]*)*                 # a JSON Web Token
    | -----BEGIN[^-]{0,80}-----[^-]*(?:-----END[^-]{0,80}-----)?
    | (?<=://)[^\s/@"']+:[^\s/@"']*@              # credentials in a URL
    | \b[\w-]{0,40}(?:password|passwd|pwd|secret|token|api[-_ ]?key|authorization|credential)[\w-]{0,40}
      ["']?\s*[:=]\s*["']?(?:(?:Bearer|Basic|Digest)\s+)?[^\s"',;}]+
    | \b(?:\d[ -]?){12,18}\d\b                    # a card or account number
    | (?<![\w+/=-])(?=[\w+/=-]*\d)[\w+/=-]{40,}                  # a long opaque word
    """,
    re.VERBOSE | re.IGNORECASE,
)


def clean_detail(detail: str | list[object] | dict[str, object], *, secret: str) -> str:
    """Return a refusal's detail as one short line: no secrets, no stack trace, no control characters."""
    text = hide(detail if isinstance(detail, str) else json.dumps(detail, ensure_ascii=False), secret)
    if len(text) > MAX_READ_LENGTH:
        # The last word may be half a secret.
        text = text[:MAX_READ_LENGTH].rsplit(maxsplit=1)[0]
    if _STACK_TRACE.search(text):
        return INTERNAL_ERROR
    line = " ".join(_without_controls(text).split())
    shown = _SECRET.sub(HIDDEN, line)
    if len(shown) > MAX_DETAIL_LENGTH:
        shown = shown[: MAX_DETAIL_LENGTH - 1] + "…"
    return shown or NO_DETAIL


def hide(text: str, secret: str) -> str:
    """Return the text without our own secret."""
    return text.replace(secret, HIDDEN) if secret else text


def _without_controls(text: str) -> str:
    return "".join(" " if unicodedata.category(character)[0] in "CZ" else character for character in text)
