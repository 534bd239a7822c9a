"""Everything that is stored about turns, for people to look at: three queries, however many turns."""

from collections.abc import Collection, Sequence
from itertools import accumulate, groupby
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, func, or_, select

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_journal import newest_events, read_event
from refund_agent.adapters.sql_rows import RECORD_COLUMNS
from refund_agent.adapters.sql_support_tables import approvals, conversations, events
from refund_agent.adapters.sql_tables import refunds, resolutions, turns
from refund_agent.adapters.sql_turns import FOUND_COLUMNS, turn_record
from refund_agent.journal import Event
from refund_agent.timeline import Resolution, TurnFile, TurnTimes
from refund_agent.turn import decode_messages

MOST_EVENTS: Final = 2_000
"""Of all turns asked for together; the oldest turns' events are the first to be left out."""

_TIMES = (
    now_ms().label("now_ms"),
    turns.c.begun_at_ms,
    turns.c.ended_at_ms,
    refunds.c.decided_at_ms,
    refunds.c.settled_at_ms,
    turns.c.lease_until_ms,
)
_MORE = (
    turns.c.transcript,
    turns.c.tokens_used,
    turns.c.cost_microdollars,
    resolutions.c.money_moved,
    resolutions.c.resolved_by,
    resolutions.c.reference,
    resolutions.c.note,
    resolutions.c.resolved_at_ms,
)
_ROWS = select(*FOUND_COLUMNS, *RECORD_COLUMNS, *_TIMES, *_MORE).select_from(
    turns.outerjoin(refunds, refunds.c.turn_id == turns.c.id).outerjoin(
        resolutions, resolutions.c.turn_id == turns.c.id
    )
)


class SqlTurnFiles:
    """Implements the port `TurnFiles`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_turn(self, turn_id: str) -> TurnFile | None:
        """Return a turn's file, or None."""
        found = self._read(_ROWS.where(turns.c.id == turn_id))
        return found[0] if found else None

    def of_conversation(self, conversation_id: str, *, limit: int) -> Sequence[TurnFile]:
        """Return the newest turns' files, oldest first, with the turns that sent approved refunds."""
        newest = (
            _ROWS.where(_its(conversation_id))
            .order_by(turns.c.created_at_ms.desc(), turns.c.id.desc())
            .limit(limit)
        )
        return self._read(newest)[::-1]

    def stamp(self, conversation_id: str) -> str:
        """Return a short text that is another one after anything in the conversation has changed."""
        its = select(turns.c.id).where(_its(conversation_id))
        told = select(func.count()).select_from(events).where(events.c.turn_id.in_(its)).scalar_subquery()
        said = (
            select(conversations.c.updated_at_ms)
            .where(conversations.c.id == conversation_id)
            .scalar_subquery()
        )
        ledger = refunds.c.settled_at_ms, refunds.c.decided_at_ms
        asked = select(
            *(func.count(), func.sum(turns.c.epoch), func.sum(turns.c.completions_used)),
            *(func.max(at) for at in (turns.c.ended_at_ms, turns.c.begun_at_ms, *ledger)),
            *(told, said),
        ).select_from(turns.outerjoin(refunds, refunds.c.turn_id == turns.c.id))
        with self._database.statement() as one:
            return "-".join(str(part or 0) for part in one.execute(asked.where(_its(conversation_id))).one())

    def _read(self, newest_first: Select[*tuple[Any, ...]]) -> list[TurnFile]:
        """Read the rows first and the events after them: what an ended turn has done is then all there."""
        with self._database.statement() as one:
            rows = one.execute(newest_first).all()
            whole = _turns_that_fit(one, [row.id for row in rows])
            told = _events(one, whole)
        return [_file(row, told.get(row.id, ()), is_whole=row.id in whole) for row in rows]


def _its(conversation_id: str) -> ColumnElement[bool]:
    """Match a conversation's turns, and those that sent its approved refunds."""
    approved = select(approvals.c.id).where(approvals.c.conversation_id == conversation_id)
    return or_(turns.c.conversation_id == conversation_id, turns.c.id.in_(approved))


def _turns_that_fit(one: Connection, newest_first: Sequence[str]) -> set[str]:
    """Return the newest turns that have no more than `MOST_EVENTS` events together."""
    counted = newest_events(one, newest_first)
    sums = accumulate(counted.get(turn_id, 0) for turn_id in newest_first)
    return {turn_id for turn_id, total in zip(newest_first, sums, strict=True) if total <= MOST_EVENTS}


def _events(one: Connection, turn_ids: Collection[str]) -> dict[str, list[Event]]:
    asked = select(events).where(events.c.turn_id.in_(turn_ids)).order_by(events.c.turn_id, events.c.seq)
    found = [read_event(row) for row in one.execute(asked)]
    return {turn_id: list(its) for turn_id, its in groupby(found, key=lambda event: event.turn_id)}


def _file(row: Any, told: Sequence[Event], *, is_whole: bool) -> TurnFile:  # noqa: ANN401 - a row of `_ROWS`
    width = len(FOUND_COLUMNS) + len(RECORD_COLUMNS)
    moved, by, reference, note, resolved_at = row[-5:]
    return TurnFile(
        record=turn_record(row[:width]),
        times=TurnTimes(*row[width : width + len(_TIMES)]),
        messages=decode_messages(row.transcript),
        events=told,
        tokens_used=row.tokens_used,
        cost_microdollars=row.cost_microdollars,
        is_whole=is_whole,
        resolution=None if by is None else Resolution(moved, by, reference, note, resolved_at),
    )
