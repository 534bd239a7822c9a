"""Which cases are looked for, as SQL: first the newest few by an index, then what is said of them."""

import json
import uuid
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, Subquery, func, literal, or_, select, tuple_

from refund_agent.adapters.sql_database import now_ms
from refund_agent.adapters.sql_support_tables import approvals, conversations, entries, events
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.casebook import CaseKind, Mark, Sought

SCAN_LIMIT: Final = 1000
"""How many cases one search looks into; with some 20 kB of transcript each it ends well within a second."""
VERDICTS: Final = ("policy", "decision")
"""The kinds of events that name a rule."""
_IS_THE_ANSWER: Final = events.c.body.notlike('%"rules":%')
"""A claim's `policy` event lists every rule it asked; its `decision`, like a mere check, names one."""
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


def matches(kind: CaseKind, found: Subquery, sought: Sought) -> list[ColumnElement[bool]]:
    """Return what a case must meet by its turns."""
    own = turns.c.id == found.c.id if kind == "turn" else turns.c.conversation_id == found.c.id
    told = select(events.c.seq).join_from(turns, events, events.c.turn_id == turns.c.id).where(own)
    conditions: list[ColumnElement[bool]] = []
    if sought.outcome == "unfinished":
        conditions.append(_any(select(turns.c.id).where(own, turns.c.state != "ended"), found))
    elif sought.outcome:
        conditions.append(_any(select(turns.c.id).where(own, turns.c.outcome == sought.outcome), found))
    if sought.refund:
        conditions.append(_refunded(found, own, sought.refund))
    if sought.rule:
        named = events.c.body.like(f'%"rule":"{sought.rule}"%')
        conditions.append(_any(told.where(events.c.kind.in_(VERDICTS), named, _IS_THE_ANSWER), found))
    if sought.flagged:
        conditions.append(_any(told.where(events.c.kind == "flag"), found))
    if sought.words and not as_id(sought.words):
        conditions.append(_says(found, own, sought.words))
    return conditions


def _refunded(found: Subquery, own: ColumnElement[bool], state: str) -> ColumnElement[bool]:
    """Match a case with a refund in this state, by a turn of its own or by one that a person approved."""
    by_turn = select(refunds.c.turn_id).join_from(turns, refunds, refunds.c.turn_id == turns.c.id)
    approved = select(refunds.c.turn_id).join_from(approvals, refunds, refunds.c.turn_id == approvals.c.id)
    return or_(
        _any(by_turn.where(own, refunds.c.state == state), found),
        _any(approved.where(approvals.c.conversation_id == found.c.id, refunds.c.state == state), found),
    )


def _says(found: Subquery, own: ColumnElement[bool], words: str) -> ColumnElement[bool]:
    """Match a case in which the words were said, shown by a tool, or are a part of the customer's id."""
    # A transcript is JSON, in which a quotation mark or a new line is written in two characters.
    in_json = _like(_content(turns.c.transcript), json.dumps(words, ensure_ascii=False)[1:-1])
    said = select(turns.c.id).where(own, or_(in_json, _like(turns.c.reply, words)))
    noted = select(entries.c.id).where(entries.c.conversation_id == found.c.id, _like(entries.c.text, words))
    return or_(_like(found.c.customer_id, words), _any(said, found), _any(noted, found))


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


def _any(asked: Select[*tuple[Any, ...]], found: Subquery) -> ColumnElement[bool]:
    return asked.correlate(found).exists()


def _holds_turn(case_id: ColumnElement[str], turn_id: str) -> ColumnElement[bool]:
    """Match the conversation of a turn, or of an approved refund, which has the approval's id."""
    return or_(
        case_id == select(turns.c.conversation_id).where(turns.c.id == turn_id).scalar_subquery(),
        case_id == select(approvals.c.conversation_id).where(approvals.c.id == turn_id).scalar_subquery(),
    )
