"""Turns, their events and their streams over a real database and Redis, without worker and model."""

import json
import threading
import uuid
from collections.abc import Mapping
from typing import Any

from flask import Flask

from refund_agent.adapters.redis_client import connect
from refund_agent.adapters.redis_live import RedisLive
from refund_agent.adapters.redis_signals import RedisSignals
from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_journal import SqlEvents
from refund_agent.adapters.sql_turns import SqlTurns
from refund_agent.adapters.system_clock import SystemClock
from refund_agent.journal import EventKind, TurnJournal
from refund_agent.outcomes import Replied, TurnOutcome
from refund_agent.turn import NewTurn, Turn, TurnRecord
from tasks.viewing_room import ViewingRoom
from tasks.waiting_room import ListeningRoom
from web import api_docs, ids, problems
from web.stream_places import StreamPlaces
from web.turn_events import Access, TurnStreams, blueprint

CUSTOMER = "customer-17"


class TurnStage:
    """One process's part in it: it can play the worker, and serve the web."""

    def __init__(self, database_url: str, redis_url: str, *, web_threads: int = 220) -> None:
        self.clock = SystemClock()
        self.database = Database(database_url)
        self.redis = connect(redis_url, connections=3)
        self.signals = RedisSignals(self.redis)
        self.turns = SqlTurns(self.database, clock=self.clock, deadline_seconds=60, lease_seconds=15)
        self.stored = SqlEvents(self.database)
        self.journal = TurnJournal(
            stored=self.stored, live=RedisLive(self.redis, clock=self.clock), clock=self.clock
        )
        self.reader = connect(redis_url, connections=1)
        self.room = ListeningRoom(
            signals=self.signals, turns=self.turns, clock=self.clock, tell_waiting=lambda _: None
        )
        self.places = StreamPlaces(web_threads=web_threads)
        self.streams = TurnStreams(
            find=self.turns.find,
            stored=self.stored,
            watching=ViewingRoom(
                waiting_room=self.room,
                live=RedisLive(self.reader, clock=self.clock),
                stored=self.stored,
                clock=self.clock,
            ),
            clock=self.clock,
            places=self.places,
        )

    def begin(self, user_id: str = CUSTOMER) -> Turn:
        """Store a turn and take it, as a worker does."""
        turn_id = str(uuid.uuid4())
        self.turns.create(NewTurn(turn_id, user_id, "Where is my order?"))
        turn = self.turns.begin(turn_id, owner="w1")
        assert turn is not None
        return turn

    def note(self, turn: Turn, kind: EventKind = "step", **body: object) -> None:
        self.journal.note(turn.id, kind, body)

    def note_unheard(self, turn: Turn, kind: EventKind = "step", **body: object) -> None:
        """Store an event whose publishing is lost."""
        self.stored.append(turn.id, kind, body)

    def end(self, turn: Turn, outcome: TurnOutcome | None = None) -> None:
        assert self.turns.end(turn, outcome or Replied("Done."))
        self.signals.publish(turn.id)

    def app(self, access: Access) -> Flask:
        """Return a web of the one route."""
        app = Flask("web", static_folder=None)
        ids.install(app)
        api = api_docs.install(app)
        problems.install(app)
        api.register_blueprint(blueprint(self.streams, access))
        return app

    def close(self) -> None:
        """Stop, and let the rooms' threads go before what they stand on."""
        self.room.close()
        for thread in threading.enumerate():
            if thread.name in {"waiting-room", "viewing-room"}:
                thread.join(5)
        self.database.close()
        self.redis.close()


def everybody(_: TurnRecord) -> bool:
    return True


def read_stream(stream: bytes) -> list[tuple[int, str, Mapping[str, Any]]]:
    """Read a stream as an EventSource does: number, name, body."""
    found = []
    for block in stream.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if line and not line.startswith(":"))
        if "event" in lines:
            found.append((int(lines["id"]), lines["event"], json.loads(lines["data"])))
    return found
