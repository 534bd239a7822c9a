"""Events in the real database and Redis: numbers without gaps, and nothing lost when showing fails."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from sqlalchemy import text

from refund_agent.adapters import sql_journal
from refund_agent.adapters.redis_client import connect
from refund_agent.adapters.redis_live import LOST, RedisLive
from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_journal import SqlEvents
from refund_agent.adapters.system_clock import SystemClock
from refund_agent.journal import START, Event, LiveUnavailable, TurnJournal, clean_body
from refund_agent.ports import StoreUnavailable
from sandbox.embedded_redis import free_port

NOWHERE = "redis://127.0.0.1:{}/0"


@pytest.fixture
def stored(database: Database) -> SqlEvents:
    return SqlEvents(database)


@pytest.fixture
def live(redis_client: redis.Redis) -> RedisLive:
    return RedisLive(redis_client, clock=SystemClock())


def test_an_event_comes_back_as_it_was_stored(stored: SqlEvents) -> None:
    body = clean_body({"text": "Ünïcode 🙂\x00", "calls": ["a"], "tokens": 5, "nothing": None})
    event = stored.append("t-1", "step", body)

    assert event is not None
    assert stored.after("t-1", 0) == [event]
    assert event.body == body
    assert abs(event.at_ms - time.time_ns() // 1_000_000) < 60_000


def test_each_turn_counts_for_itself(stored: SqlEvents) -> None:
    for turn_id in ("t-1", "t-2", "t-1"):
        stored.append(turn_id, "step", {})

    assert stored.newest(["t-1", "t-2", "t-3"]) == {"t-1": 2, "t-2": 1}
    assert [event.seq for event in stored.after("t-1", 1)] == [2]


def test_two_owners_of_a_turn_never_take_one_number(stored: SqlEvents) -> None:
    start = threading.Barrier(4)

    def write(writer: int) -> list[int]:
        start.wait()
        events = [stored.append("t-1", "step", {"writer": writer, "n": n}) for n in range(20)]
        return [event.seq for event in events if event is not None]

    with ThreadPoolExecutor(4) as pool:
        taken = [seq for seqs in pool.map(write, range(4)) for seq in seqs]

    kept = stored.after("t-1", 0)
    assert sorted(taken) == list(range(1, 81)) == [event.seq for event in kept]
    for writer in range(4):
        mine = [event.body["n"] for event in kept if event.body["writer"] == writer]
        assert mine == list(range(20)), "one writer's events keep their order"


def test_a_turn_has_a_most_of_events(stored: SqlEvents) -> None:
    events = [stored.append("t-1", "step", {}) for _ in range(sql_journal.MAX_EVENTS)]
    assert all(events)

    assert stored.append("t-1", "step", {}) is None
    assert stored.newest(["t-1"]) == {"t-1": sql_journal.MAX_EVENTS}


def test_what_is_published_is_heard_after_the_position_and_kept_for_an_hour(
    live: RedisLive, redis_client: redis.Redis
) -> None:
    first, second = Event("t-1", 1, "step", {"text": "é\n"}, 5), Event("t-1", 2, "usage", {}, 6)
    live.publish(first)
    live.publish(second)
    live.publish(Event("t-2", 1, "step", {}, 7))

    (position, heard), (_, then) = live.read({"t-1": START}, seconds=0.01)
    assert (heard, then) == (first, second)
    assert [event for _, event in live.read({"t-1": position}, seconds=0.01)] == [second]
    assert 3500 < redis_client.ttl("live:t-1") <= 3600


def test_nothing_new_is_nothing_heard(live: RedisLive) -> None:
    assert live.read({"t-1": START}, seconds=0.01) == []


def test_without_redis_events_are_stored_and_only_the_first_waits_for_it(stored: SqlEvents) -> None:
    away = RedisLive(connect(NOWHERE.format(free_port()), connections=1), clock=SystemClock())
    journal = TurnJournal(stored=stored, live=away, clock=SystemClock())
    began = time.monotonic()
    for _ in range(20):
        journal.note("t-1", "step", {})

    assert len(stored.after("t-1", 0)) == 20
    assert time.monotonic() - began < 5
    with pytest.raises(LiveUnavailable):
        away.read({"t-1": START}, seconds=0.01)


def test_an_event_that_the_database_refuses_costs_the_turn_nothing(
    database: Database, live: RedisLive, redis_client: redis.Redis
) -> None:
    """The table is away; the journal says nothing but counts."""
    with database.transaction() as tx:
        tx.execute(text("ALTER TABLE events RENAME TO events_away"))
    try:
        journal = TurnJournal(stored=SqlEvents(database), live=live, clock=SystemClock())
        journal.note("t-1", "step", {})
        journal.note("t-1", "step", {})
    finally:
        with database.transaction() as tx:
            tx.execute(text("ALTER TABLE events_away RENAME TO events"))

    assert redis_client.get(LOST) == b"2"
    assert redis_client.keys("live:*") == []


def test_a_locked_table_is_waited_for_once_and_not_by_each_event(database: Database, live: RedisLive) -> None:
    journal = TurnJournal(stored=SqlEvents(database), live=live, clock=SystemClock())
    with database.transaction() as tx:
        if database.is_postgresql:
            tx.execute(text("LOCK TABLE events IN ACCESS EXCLUSIVE MODE"))
        began = time.monotonic()
        for _ in range(10):
            journal.note("t-1", "step", {})
        assert time.monotonic() - began < 4

    assert SqlEvents(database).newest(["t-1"]) == {}


def test_the_store_says_when_it_cannot_be_asked() -> None:
    nowhere = Database(f"postgresql://nobody@127.0.0.1:{free_port()}/nothing")
    with pytest.raises(StoreUnavailable):
        SqlEvents(nowhere).append("t-1", "step", {})
    nowhere.close()


def test_a_body_is_json_in_the_table(database: Database, stored: SqlEvents) -> None:
    stored.append("t-1", "flag", {"text": "ü"})
    with database.transaction(read_only=True) as tx:
        body = tx.execute(text("SELECT body FROM events")).scalar_one()
    assert json.loads(body) == {"text": "ü"}
