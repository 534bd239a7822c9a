"""Which cases are looked for, as SQL: first the newest few by an index, then what is said of them."""

import json
import uuid
from typing import Any, Final

from sqlalchemy import CTE, ColumnElement, Select, func, literal, or_, select, tuple_, union_all

from refund_agent.adapters.sql_database import now_ms
from refund_agent.adapters.sql_support_tables import approvals, conversations, entries, events
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.casebook import CaseKind, Mark, Sought

SCAN_LIMIT: Final = 500
"""How many cases one search looks into. With three turns of 3 kB in each, words take about 0.1 s."""
VERDICTS: Final = ("policy", "decision")
"""The kinds of events that name a rule."""
_ESCAPE: Final = "!"


_CONVERSATIONS: Final[Select[*tuple[Any, ...]]] = select(
    conversations.c.id,
    conversations.c.customer_id,
    conversations.c.owner,
    conversations.c.created_at_ms,
    conversations.c.updated_at_ms.label("at_ms"),
)
_LONE_TURNS: Final[Select[*tuple[Any, ...]]] = select(
    turns.c.id,
    turns.c.user_id.label("customer_id"),
    literal("agent").label("owner"),
    turns.c.created_at_ms,
    turns.c.created_at_ms.label("at_ms"),
).where(turns.c.conversation_id.is_(None), turns.c.agent != "approval")


def newest(kind: CaseKind, sought: Sought, *, before: Mark | None) -> Select[*tuple[Any, ...]]:
    """Return the newest cases after a mark by what is in their own rows, newest first."""
    asked = _CONVERSATIONS if kind == "conversation" else _LONE_TURNS
    case_id, customer_id, owner, _, at_ms = asked.selected_columns
    if before is not None:
        asked = asked.where(tuple_(at_ms, case_id) < (before.at_ms, before.id))
    if sought.customer_id:
        asked = asked.where(customer_id == sought.customer_id)
    if sought.owner:
        asked = asked.where(owner == sought.owner)
    if sought.younger_than_seconds:
        asked = asked.where(at_ms > now_ms() - sought.younger_than_seconds * 1000)
    if one := as_id(sought.words):
        asked = asked.where(or_(case_id == one, _holds_turn(case_id, one)))
    return asked.order_by(at_ms.desc(), case_id.desc())


def looks_into_turns(sought: Sought) -> bool:
    """Whether what is sought is not in the cases' own rows, so that each has to be looked into."""
    words = sought.words and not as_id(sought.words)
    return bool(words or sought.outcome or sought.rule or sought.refund or sought.flagged)


def as_id(words: str) -> str:
    """Return the words as the id of a conversation or a turn; empty when they are none."""
    try:
        return str(uuid.UUID(words))
    except ValueError:
        return ""


def matches(kind: CaseKind, found: CTE, sought: Sought) -> list[ColumnElement[bool]]:
    """Return what a case of those found must meet by its turns.

    Each condition is a list of ids joined from what was found: with EXISTS, PostgreSQL may read a whole table
    instead of a few hundred cases.
    """
    its_turns = found.c.id == (turns.c.id if kind == "turn" else turns.c.conversation_id)
    of_turns = select(found.c.id).join_from(found, turns, its_turns)
    of_events = of_turns.join(events, events.c.turn_id == turns.c.id)
    asked: list[Any] = []
    if sought.outcome == "unfinished":
        asked.append(of_turns.where(turns.c.state != "ended"))
    elif sought.outcome:
        asked.append(of_turns.where(turns.c.outcome == sought.outcome))
    if sought.refund:
        in_state = refunds.c.state == sought.refund
        approved = select(found.c.id).join_from(found, approvals, approvals.c.conversation_id == found.c.id)
        asked.append(
            of_turns.join(refunds, refunds.c.turn_id == turns.c.id)
            .where(in_state)
            .union_all(approved.join(refunds, refunds.c.turn_id == approvals.c.id).where(in_state))
        )
    if sought.rule:
        # The rule that objected stands before the version; those that were merely asked stand in a list.
        named = events.c.body.like(f'%"rule":"{sought.rule}","version":%')
        asked.append(of_events.where(events.c.kind.in_(VERDICTS), named))
    if sought.flagged:
        asked.append(of_events.where(events.c.kind == "flag"))
    if sought.words and not as_id(sought.words):
        asked.append(_says(found, of_turns, sought.words))
    return [found.c.id.in_(ids) for ids in asked]


def _says(found: CTE, of_turns: Select[*tuple[Any, ...]], words: str) -> Any:  # noqa: ANN401 - a union of SELECTs
    """Ask for the cases in which the words were said, shown by a tool, or are a part of the customer's id."""
    # A transcript is JSON, in which a quotation mark or a new line is written in two characters.
    in_json = _like(_content(turns.c.transcript), json.dumps(words, ensure_ascii=False)[1:-1])
    its_entries = entries.c.conversation_id == found.c.id
    return union_all(
        select(found.c.id).where(_like(found.c.customer_id, words)),
        of_turns.where(or_(in_json, _like(turns.c.reply, words))),
        select(found.c.id).join_from(found, entries, its_entries).where(_like(entries.c.text, words)),
    )


def _content(transcript: ColumnElement[str]) -> ColumnElement[str]:
    """Return a transcript without its own words; a quotation mark that was said has a backslash before it."""
    for own in ("system", "user", "assistant", "tool"):
        transcript = func.replace(transcript, f'"role":"{own}"', "")
    for own in ("content", "calls", "call_id"):
        transcript = func.replace(transcript, f'"{own}":', "")
    return transcript


def _like(column: ColumnElement[Any], words: str) -> ColumnElement[bool]:
    """Match a part of a text in either case of its letters; on SQLite that holds for A to Z only."""
    literally = "".join(f"{_ESCAPE}{one}" if one in "%_!" else one for one in words)
    return column.ilike(f"%{literally}%", escape=_ESCAPE)


def _holds_turn(case_id: ColumnElement[str], turn_id: str) -> ColumnElement[bool]:
    """Match the conversation of a turn, or of an approved refund, which has the approval's id."""
    return or_(
        case_id == select(turns.c.conversation_id).where(turns.c.id == turn_id).scalar_subquery(),
        case_id == select(approvals.c.conversation_id).where(approvals.c.id == turn_id).scalar_subquery(),
    )
