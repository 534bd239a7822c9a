"""The events table. A turn's numbers have no gaps and no doubles, however many owners write at once."""

import json
from collections.abc import Collection, Mapping
from typing import Any, Final

from sqlalchemy import Connection, Integer, String, Text, bindparam, func, literal, select

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_support_tables import events
from refund_agent.journal import Event, EventKind
from refund_agent.ports import StoreUnavailable

MAX_EVENTS: Final = 500
"""A turn has at most five completions, but one of them may ask for any number of calls."""
PAGE: Final = 100
APPEND_TRIES: Final = 40
"""Two writers of a turn are the most there should be; each conflict lets one of them through, quickly."""

_TURN = bindparam("own_turn", type_=String)
_NEXT = (
    select((func.coalesce(func.max(events.c.seq), 0) + 1).label("seq"))
    .where(events.c.turn_id == _TURN)
    .subquery("next")
)
_ROW = select(
    _TURN, _NEXT.c.seq, bindparam("own_kind", type_=String), bindparam("own_body", type_=Text), now_ms()
).where(_NEXT.c.seq <= literal(MAX_EVENTS, Integer))
_COLUMNS = ("turn_id", "seq", "kind", "body", "at_ms")
_AFTER = (
    select(events)
    .where(events.c.turn_id == _TURN, events.c.seq > bindparam("own_seq", type_=Integer))
    .order_by(events.c.seq)
    .limit(PAGE)
)
_NEWEST = (
    select(events.c.turn_id, func.max(events.c.seq))
    .where(events.c.turn_id.in_(bindparam("ids", expanding=True)))
    .group_by(events.c.turn_id)
)


class SqlEvents:
    """Implements the port `StoredEvents`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._append = (
            database.insert_or_ignore(events)
            .from_select(_COLUMNS, _ROW)
            .returning(events.c.seq, events.c.at_ms)
        )

    def append(self, turn_id: str, kind: EventKind, body: Mapping[str, object]) -> Event | None:
        """Take the next number and write the event in one statement.

        Of two writers that computed the same number, one yields to the primary key and computes again.
        """
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        given = {"own_turn": turn_id, "own_kind": kind, "own_body": text}
        with self._database.statement() as one:
            for _ in range(APPEND_TRIES):
                row = one.execute(self._append, given).one_or_none()
                if row is not None:
                    return Event(turn_id, row.seq, kind, body, row.at_ms)
                if newest_events(one, [turn_id]).get(turn_id, 0) >= MAX_EVENTS:
                    return None
        raise StoreUnavailable("other writers of the turn always came first")

    def after(self, turn_id: str, seq: int) -> list[Event]:
        """Return the turn's next events after `seq`, in order, at most `PAGE`."""
        with self._database.statement() as one:
            rows = one.execute(_AFTER, {"own_turn": turn_id, "own_seq": seq}).all()
        return [read_event(row) for row in rows]

    def newest(self, turn_ids: Collection[str]) -> dict[str, int]:
        """Return the last number of each of the turns that has events."""
        with self._database.statement() as one:
            return newest_events(one, turn_ids)


def newest_events(one: Connection, turn_ids: Collection[str]) -> dict[str, int]:
    """Return the last number of each of the turns that has events."""
    rows = one.execute(_NEWEST, {"ids": list(turn_ids)})
    return {str(turn_id): int(seq) for turn_id, seq in rows}


def read_event(row: Any) -> Event:  # noqa: ANN401 - a row of whichever driver
    """Read a row of the table."""
    return Event(row.turn_id, row.seq, row.kind, json.loads(row.body), row.at_ms)
