"""The limits over a real Redis and a real database."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import redis
from sqlalchemy import update
from structlog.testing import capture_logs

from refund_agent.adapters.redis_client import connect
from refund_agent.adapters.redis_limits import RECOUNT_SECONDS, RedisLimits
from refund_agent.adapters.redis_presence import RedisPresence
from refund_agent.adapters.sql_tables import turns
from refund_agent.adapters.sql_usage import SqlUsage
from refund_agent.limits import (
    Admission,
    Admitted,
    Asking,
    ConversationFull,
    LimiterAway,
    Limits,
    NoRoom,
    TooFast,
    TooManyTokens,
)
from refund_agent.outcomes import Replied
from refund_agent.ports import StoreUnavailable
from refund_agent.turn import NewTurn
from tests.integration.conftest import Stores

ALICE = Asking("alice")
DAY = 24 * 3600


class FakeUsage:
    """What SQL would say."""

    def __init__(self) -> None:
        self.open = 0
        self.tokens: dict[str, int] = {}
        self.asked: list[str] = []
        self.is_away = False

    def open_turns(self) -> int:
        if self.is_away:
            raise StoreUnavailable("away")
        return self.open

    def tokens_today(self, customer_id: str) -> int:
        self.asked.append(customer_id)
        return self.tokens.get(customer_id, 0)


class Gate:
    """A limiter, and what it stands on."""

    def __init__(self, client: redis.Redis) -> None:
        self.client = client
        self.usage = FakeUsage()
        self.workers: Callable[[], list[str]] = lambda: ["w1"]
        self.limits = Limits(customer_rate="5/minute")

    def limiter(self) -> RedisLimits:
        return RedisLimits(self.client, limits=self.limits, usage=self.usage, workers=self.workers, seats=3)

    def set(self, **changes: Any) -> None:
        self.limits = replace(self.limits, **changes)

    def admit(self, asking: Asking = ALICE) -> Admission:
        return self.limiter().admit(asking)


@pytest.fixture
def gate(redis_client: redis.Redis) -> Gate:
    return Gate(redis_client)


# --- The rate -------------------------------------------------------------------------------------


@pytest.mark.fault(39)
def test_a_burst_is_admitted_up_to_the_rate_and_told_when_to_come_back(gate: Gate) -> None:
    answers = [gate.admit() for _ in range(8)]

    assert answers[:5] == [Admitted()] * 5
    for answer in answers[5:]:
        assert isinstance(answer, TooFast)
        assert 1 <= answer.retry_after_seconds <= 60


@pytest.mark.fault(39)
def test_another_customer_is_not_held_up_by_it(gate: Gate) -> None:
    for _ in range(6):
        gate.admit()

    assert gate.admit(Asking("bob")) == Admitted()


@pytest.mark.fault(71)
@pytest.mark.parametrize(
    "other", ["alice ", "Alice", "alice:1", "alice/5/1/minute", "*", "\ud800", "ali\x00ce"]
)
def test_no_two_customers_share_a_counter(gate: Gate, other: str) -> None:
    for _ in range(6):
        gate.admit()

    assert gate.admit(Asking(other)) == Admitted()


@pytest.mark.fault(39)
def test_every_counter_of_the_rate_expires(gate: Gate) -> None:
    gate.admit()

    keys = gate.client.keys("*")
    assert keys
    assert all(0 < gate.client.ttl(key) <= max(61, RECOUNT_SECONDS) for key in keys)


@pytest.mark.fault(39)
def test_a_rate_of_a_second_is_free_again_a_second_later(gate: Gate) -> None:
    gate.set(customer_rate="2/second")
    limiter = gate.limiter()
    assert limiter.admit(ALICE) == limiter.admit(ALICE) == Admitted()
    refused = limiter.admit(ALICE)

    assert refused == TooFast(1)
    threading.Event().wait(1.1)
    assert limiter.admit(ALICE) == Admitted()


@pytest.mark.fault(39)
def test_racing_posts_of_one_customer_never_pass_the_rate(redis_url: str) -> None:
    client = connect(redis_url, connections=16)
    limiter = Gate(client).limiter()
    gate = threading.Barrier(16)
    found: list[Admission] = []

    def post() -> None:
        gate.wait(timeout=5)
        found.extend(limiter.admit(ALICE) for _ in range(6))

    threads = [threading.Thread(target=post) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    client.close()

    assert len(found) == 96
    assert found.count(Admitted()) == 5


# --- Room -----------------------------------------------------------------------------------------


@pytest.mark.fault(41)
@pytest.mark.parametrize(
    ("workers", "open_turns", "has_room"),
    [(["w1"], 5, True), (["w1"], 6, False), (["w1", "w2"], 11, True), (["w1", "w2"], 12, False)],
)
def test_twice_as_many_turns_may_be_open_as_the_workers_run(
    gate: Gate, workers: list[str], open_turns: int, *, has_room: bool
) -> None:
    gate.workers = lambda: workers
    gate.usage.open = open_turns

    assert (gate.admit() == Admitted()) is has_room


@pytest.mark.fault(41)
def test_a_set_number_of_open_turns_holds_whatever_the_workers(gate: Gate) -> None:
    gate.set(max_open_turns=1)
    assert gate.admit() == Admitted()
    gate.usage.open = 1

    assert isinstance(gate.admit(), NoRoom)


@pytest.mark.fault(41)
def test_those_refused_together_are_asked_back_at_different_times(gate: Gate) -> None:
    gate.usage.open = 6
    answers = [gate.admit(Asking(f"customer-{n}")) for n in range(40)]
    waits = {answer.retry_after_seconds for answer in answers if isinstance(answer, NoRoom)}

    assert all(isinstance(answer, NoRoom) and answer.why == "full" for answer in answers)
    assert len(waits) > 3
    assert waits <= set(range(3, 11))


@pytest.mark.fault(41)
def test_without_a_worker_there_is_no_room(gate: Gate) -> None:
    gate.workers = list
    answer = gate.admit()

    assert isinstance(answer, NoRoom)
    assert answer.why == "no worker"


def test_a_worker_that_was_heard_of_counts(gate: Gate) -> None:
    presence = RedisPresence(gate.client, kind="worker")
    gate.workers = lambda: list(presence.alive(within_seconds=20))
    assert isinstance(gate.admit(), NoRoom)
    presence.beat("w1", 0)

    assert gate.admit() == Admitted()


# --- Conversations and days -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("turn_count", "tokens", "answer"),
    [
        (39, 59_999, Admitted()),
        (40, 0, ConversationFull("turns")),
        (0, 60_000, ConversationFull("tokens")),
        (400, 600_000, ConversationFull("turns")),
    ],
)
def test_a_conversation_has_an_end(gate: Gate, turn_count: int, tokens: int, answer: Admission) -> None:
    assert gate.admit(Asking("alice", turn_count, tokens)) == answer


def test_a_customers_day_has_an_end_and_the_answer_says_when_the_next_begins(gate: Gate) -> None:
    gate.usage.tokens["alice"] = 200_000
    answer = gate.admit()

    assert isinstance(answer, TooManyTokens)
    assert 0 < answer.retry_after_seconds <= DAY
    assert gate.admit(Asking("bob")) == Admitted()


def test_spent_tokens_count_at_once_and_sql_is_not_asked_each_time(gate: Gate) -> None:
    gate.usage.tokens["alice"] = 150_000
    assert gate.admit() == Admitted()
    gate.limiter().spend("alice", 50_000)

    assert isinstance(gate.admit(), TooManyTokens)
    assert gate.usage.asked == ["alice"]


def test_tokens_spent_before_the_first_count_are_not_counted_twice(gate: Gate) -> None:
    gate.limiter().spend("alice", 150_000)
    gate.usage.tokens["alice"] = 150_000

    assert gate.admit() == Admitted()


def test_after_redis_was_flushed_the_day_is_counted_again_from_sql(gate: Gate) -> None:
    gate.usage.tokens["alice"] = 200_000
    assert isinstance(gate.admit(), TooManyTokens)
    gate.client.flushdb()

    assert isinstance(gate.admit(), TooManyTokens)


# --- Away -----------------------------------------------------------------------------------------


@pytest.mark.fault(40)
def test_without_redis_nobody_is_admitted_and_nothing_is_raised() -> None:
    client = connect("redis://127.0.0.1:1/0", connections=1)
    limiter = Gate(client).limiter()

    with capture_logs() as logs:
        assert isinstance(limiter.admit(ALICE), LimiterAway)
    assert [entry["event"] for entry in logs] == ["limiter_away"]
    limiter.spend("alice", 10)
    client.close()


@pytest.mark.fault(40)
def test_without_the_database_nobody_is_admitted(gate: Gate) -> None:
    gate.usage.is_away = True

    assert gate.admit() == LimiterAway("StoreUnavailable")


@pytest.mark.fault(40)
def test_a_counter_that_makes_no_sense_admits_nobody(gate: Gate) -> None:
    gate.admit()
    (key,) = gate.client.keys("tokens:*")
    gate.client.set(key, "many")

    assert gate.admit() == LimiterAway("ValueError")


# --- What SQL says --------------------------------------------------------------------------------


def _support_turn(
    stores: Stores, turn_id: str, *, tokens: int, user_id: str = "alice", **changes: Any
) -> None:
    stores.turns.create(
        NewTurn(turn_id, user_id, "hi", agent="support", conversation_id=f"conversation-{turn_id}")
    )
    with stores.database.transaction() as tx:
        tx.execute(update(turns).where(turns.c.id == turn_id).values(tokens_used=tokens, **changes))


def test_the_days_tokens_are_those_of_the_customers_support_turns_since_midnight(stores: Stores) -> None:
    usage = SqlUsage(stores.database)
    assert usage.tokens_today("alice") == 0
    _support_turn(stores, "t1", tokens=100)
    _support_turn(stores, "t2", tokens=20)
    _support_turn(stores, "t3", tokens=4000, created_at_ms=1)
    _support_turn(stores, "t4", tokens=50_000, user_id="bob")
    _support_turn(stores, "t5", tokens=600_000, agent="refund_chat")

    assert usage.tokens_today("alice") == 120


def test_open_turns_are_those_that_can_still_run(stores: Stores) -> None:
    usage = SqlUsage(stores.database)
    assert usage.open_turns() == 0
    stores.stored()
    running = stores.running()
    stores.pass_deadline_of(stores.stored())
    assert usage.open_turns() == 2
    stores.turns.end(running, Replied("done"))

    assert usage.open_turns() == 1
