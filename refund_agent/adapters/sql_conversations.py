"""Conversations in SQL. What the agent said is read from its turns; nothing is stored twice."""

from collections.abc import Sequence
from typing import Any, cast

from sqlalchemy import Connection, func, select, tuple_, update

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_entries import add_entry, entry_id
from refund_agent.adapters.sql_rows import (
    OWNED,
    RECORD_COLUMNS,
    owned_progress,
    read_outcome,
    refund_record,
)
from refund_agent.adapters.sql_support_tables import approvals, conversations, entries
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.conversations import Conversation, Cursor, Entry, Line, Owner, Usage
from refund_agent.notices import UNANSWERED, UNANSWERED_WITH_REFUND
from refund_agent.outcomes import RefundRecord, Replied, TurnOutcome
from refund_agent.replies import status_line
from refund_agent.transcripts import finished, join, words_of_a_person, words_of_the_customer
from refund_agent.turn import Message, Turn, UserMessage, decode_messages

MAX_LINES = 500
"""How many turns, and how many entries between them, are read of one conversation: the newest."""
MAX_HISTORY_TURNS = 40

_COLUMNS = (
    conversations.c.id,
    conversations.c.customer_id,
    conversations.c.owner,
    conversations.c.created_at_ms,
    conversations.c.updated_at_ms,
)
_SPEAKERS: dict[str, Any] = {"customer": "customer", "staff": "staff"}


class SqlConversations:
    """Implements the port `Conversations`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, conversation_id: str, *, customer_id: str | None) -> Conversation | None:
        """Return it, or None when it is not there or not this customer's; None as customer: staff asks."""
        asked = select(*_COLUMNS).where(conversations.c.id == conversation_id)
        if customer_id is not None:
            asked = asked.where(conversations.c.customer_id == customer_id)
        with self._database.statement() as one:
            row = one.execute(asked).one_or_none()
        return None if row is None else Conversation(*row)

    def page(self, *, customer_id: str, before: Cursor | None, limit: int) -> Sequence[Conversation]:
        """Return the customer's conversations, newest first, those after the cursor."""
        asked = select(*_COLUMNS).where(conversations.c.customer_id == customer_id)
        if before is not None:
            place = tuple_(conversations.c.updated_at_ms, conversations.c.id)
            asked = asked.where(place < (before.updated_at_ms, before.id))
        newest = asked.order_by(conversations.c.updated_at_ms.desc(), conversations.c.id.desc()).limit(limit)
        with self._database.statement() as one:
            return [Conversation(*row) for row in one.execute(newest)]

    def lines(self, conversation_id: str) -> Sequence[Line]:
        """Return what was said in the newest turns and entries, `MAX_LINES` of each, in order."""
        with self._database.statement() as one:
            said = [_lines_of_turn(row) for row in one.execute(_turns_of(conversation_id, MAX_LINES)).all()]
            noted = one.execute(_entries_of(conversation_id)).all()
            approved = one.execute(_approved_refunds(conversation_id)).all()
        told = {row.turn_id: refund_record(row) for row in approved}  # an entry of that id tells its result
        between = [_line_of_entry(entry, told.get(entry.id)) for entry in noted]
        return sorted([line for turn in said for line in turn] + between, key=lambda line: line.at_ms)

    def usage(self, conversation_id: str) -> Usage:
        """Return how many turns and tokens it has used."""
        asked = select(func.count(), func.coalesce(func.sum(turns.c.tokens_used), 0)).where(
            turns.c.conversation_id == conversation_id
        )
        with self._database.statement() as one:
            count, tokens = one.execute(asked).one()
        return Usage(int(count), int(tokens))

    def history(self, turn: Turn) -> list[Message]:
        """Return what was said before `turn`, capped, every tool call with its answer."""
        earlier = _turns_of(turn.conversation_id, MAX_HISTORY_TURNS).where(
            turns.c.id != turn.id, turns.c.state == "ended"
        )
        with self._database.statement() as one:
            said = one.execute(earlier).all()
            noted = one.execute(
                _entries_of(turn.conversation_id).where(entries.c.kind.in_(("customer", "staff")))
            ).all()
        pieces: list[tuple[int, list[Message]]] = []
        for row in said:
            outcome = cast("TurnOutcome", read_outcome(row.outcome, row.reply, row.reason))
            messages = finished(decode_messages(row.transcript), outcome, _refund_of(row))
            pieces.append((row.created_at_ms, messages))
        for entry in noted:
            word = words_of_the_customer if entry.kind == "customer" else words_of_a_person
            pieces.append((entry.at_ms, [word(entry.text)]))
        return join([messages for _, messages in sorted(pieces, key=lambda piece: piece[0])])

    def add(self, conversation_id: str, entry: Entry) -> None:
        """Record something said or done outside a turn."""
        with self._database.transaction() as tx:
            add_entry(self._database, tx, conversation_id, entry)

    def find_entry(self, key: str) -> tuple[str, str] | None:
        """Return the conversation's id and the text of the entry recorded under this key, or None."""
        asked = select(entries.c.conversation_id, entries.c.text).where(entries.c.id == entry_id(key))
        with self._database.statement() as one:
            row = one.execute(asked).one_or_none()
        return None if row is None else (row.conversation_id, row.text)

    def hand(self, conversation_id: str, *, to: Owner, entry: Entry) -> bool:
        """Give the conversation to a person or back to the agent; False when it is there already."""
        with self._database.transaction() as tx:
            return self._hand(tx, conversation_id, to=to, entry=entry)

    def escalate(self, turn: Turn, entry: Entry) -> bool:
        """Give the turn's conversation to a person; False when this owner's epoch no longer holds it."""
        with self._database.transaction() as tx:
            if tx.execute(update(turns).where(OWNED), owned_progress(turn)).rowcount != 1:
                return False
            self._hand(tx, turn.conversation_id, to="person", entry=entry)
        return True

    def _hand(self, tx: Connection, conversation_id: str, *, to: Owner, entry: Entry) -> bool:
        hand = update(conversations).where(conversations.c.id == conversation_id, conversations.c.owner != to)
        if tx.execute(hand.values(owner=to, updated_at_ms=now_ms())).rowcount != 1:
            return False
        add_entry(self._database, tx, conversation_id, entry)
        return True


def _entries_of(conversation_id: str) -> Any:  # noqa: ANN401 - an SQLAlchemy SELECT
    """The newest entries of a conversation."""
    return (
        select(entries)
        .where(entries.c.conversation_id == conversation_id)
        .order_by(entries.c.at_ms.desc())
        .limit(MAX_LINES)
    )


def _approved_refunds(conversation_id: str) -> Any:  # noqa: ANN401 - an SQLAlchemy SELECT
    """The refunds of this conversation that a person approved; an approval's turn has the approval's id."""
    both = approvals.join(refunds, refunds.c.turn_id == approvals.c.id)
    return (
        select(*RECORD_COLUMNS)
        .select_from(both)
        .where(approvals.c.conversation_id == conversation_id)
        .limit(MAX_LINES)
    )


def _turns_of(conversation_id: str, limit: int) -> Any:  # noqa: ANN401 - an SQLAlchemy SELECT
    """The newest turns of a conversation, joined with their refunds."""
    both = turns.outerjoin(refunds, refunds.c.turn_id == turns.c.id)
    return (
        select(
            turns.c.id.label("turn"),
            turns.c.created_at_ms,
            turns.c.ended_at_ms,
            turns.c.transcript,
            turns.c.outcome,
            turns.c.reply,
            turns.c.reason,
            *RECORD_COLUMNS,
        )
        .select_from(both)
        .where(turns.c.conversation_id == conversation_id)
        .order_by(turns.c.created_at_ms.desc())
        .limit(limit)
    )


def _refund_of(row: Any) -> RefundRecord | None:  # noqa: ANN401 - a row of `_turns_of`
    return None if row.turn_id is None else refund_record(row[-len(RECORD_COLUMNS) :])


def _line_of_entry(entry: Any, refund: RefundRecord | None) -> Line:  # noqa: ANN401 - a row of `entries`
    speaker = _SPEAKERS.get(entry.kind, "system")
    author = entry.author if entry.kind == "staff" else ""
    return Line(entry.at_ms, speaker, entry.text, entry.kind, refund=refund, author=author)


def _lines_of_turn(row: Any) -> list[Line]:  # noqa: ANN401 - a row of `_turns_of`
    first = decode_messages(row.transcript)[0]
    asked = first.content if isinstance(first, UserMessage) else ""
    lines = [Line(row.created_at_ms, "customer", asked, "customer", row.turn)]
    outcome = read_outcome(row.outcome, row.reply, row.reason)
    refund = _refund_of(row)
    if isinstance(outcome, Replied):
        lines.append(Line(row.ended_at_ms, "agent", outcome.text, "reply", row.turn, refund))
    elif outcome is not None:
        lines.append(
            Line(row.ended_at_ms, "system", _without_an_answer(refund), "unanswered", row.turn, refund)
        )
    return lines


def _without_an_answer(refund: RefundRecord | None) -> str:
    """Say that a turn ended without a reply, and what its refund came to all the same."""
    if refund is None or refund.state == "closed":
        return UNANSWERED.say()
    return UNANSWERED_WITH_REFUND.say(refund=status_line(refund, currency=""))
