"""What the list's address says is looked for: read strictly, and written back into the address of a page."""

from collections.abc import Mapping
from typing import Any, Final, cast, get_args
from urllib.parse import urlencode
from uuid import UUID

from refund_agent.casebook import MAX_WORDS_LENGTH, Mark, OutcomeName, Sought
from refund_agent.identity import MAX_ID_LENGTH
from refund_agent.policy import RuleName
from web.kinds import Kind
from web.problems import Problem, Refused

AGES: Final[Mapping[str, int]] = {"hour": 3600, "day": 86_400, "week": 7 * 86_400, "month": 30 * 86_400}
OUTCOMES: Final[tuple[str, ...]] = get_args(OutcomeName)
RULES: Final[tuple[str, ...]] = get_args(RuleName)
REFUNDS: Final = ("paid", "unknown", "claimed", "rejected", "not_sent")
OWNERS: Final = ("agent", "person")
_MAX_MS_DIGITS: Final = 15


def read_sought(given: Mapping[str, str]) -> Sought:
    """Read the filters; an empty one does not matter, and one that is none raises `Refused`."""

    def one_of(name: str, allowed: tuple[str, ...]) -> Any:  # noqa: ANN401 - one of the allowed words
        chosen = given.get(name, "")
        if chosen and chosen not in allowed:
            raise _refused(name)
        return chosen

    return Sought(
        words=_text(given, "q", most=MAX_WORDS_LENGTH),
        customer_id=_text(given, "customer", most=MAX_ID_LENGTH),
        outcome=one_of("outcome", OUTCOMES),
        rule=one_of("rule", RULES),
        refund=one_of("refund", REFUNDS),
        flagged=one_of("flag", ("1",)) == "1",
        owner=one_of("owner", OWNERS),
        younger_than_seconds=AGES.get(cast("str", one_of("age", tuple(AGES))), 0),
    )


def write_query(sought: Sought, before: Mark | None = None) -> str:
    """Write the filters, and where a page begins, as the query of an address."""
    age = next((name for name, seconds in AGES.items() if seconds == sought.younger_than_seconds), "")
    fields = {
        "q": sought.words,
        "customer": sought.customer_id,
        "outcome": sought.outcome,
        "rule": sought.rule,
        "refund": sought.refund,
        "flag": "1" if sought.flagged else "",
        "owner": sought.owner,
        "age": age,
        "before": "" if before is None else f"{before.at_ms}.{before.id}",
    }
    return urlencode({name: value for name, value in fields.items() if value})


def read_mark(given: Mapping[str, str]) -> Mark | None:
    """Read where the page begins; None for the first."""
    written = given.get("before", "")
    if not written:
        return None
    at_ms, _, case_id = written.partition(".")
    try:
        if at_ms.isascii() and at_ms.isdigit() and len(at_ms) <= _MAX_MS_DIGITS:
            return Mark(int(at_ms), str(UUID(case_id)))
    except ValueError:
        pass
    raise _refused("before")


def _text(given: Mapping[str, str], name: str, *, most: int) -> str:
    text = given.get(name, "").strip()
    if len(text) > most or not text.isprintable():
        raise _refused(name)
    return text


def _refused(name: str) -> Refused:
    return Refused(
        Problem(Kind.INVALID_BODY, f"`{name}` in the address is not one of those. Nothing was done.")
    )
