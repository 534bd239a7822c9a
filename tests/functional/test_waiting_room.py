"""Two hundred requests wait in one web process, and a lost wake-up costs a second and nothing else."""

import time
from concurrent.futures import Future, wait

import pytest
import redis
import requests

from sandbox.completions import calls_refund, says
from sandbox.english import report
from sandbox.script_parts import plain
from tests.functional.plays import Hold, echo
from tests.functional.rough import Rough
from tests.functional.stand import Stand, ask_until_taken, turn_id, wait_until

pytestmark = pytest.mark.timeout(150)  # seconds, for a busy machine

WAITING = 200
WAVE = 20
MAX_REDIS_CONNECTIONS = 19
SOON_SECONDS = 3.0
"""Two, and one for a busy machine."""
AWAY_SECONDS = 20.0
"""For fifty turns on a busy machine; their deadline is later."""
MOST = 40


def test_two_hundred_requests_wait_at_once_and_each_gets_its_own_answer(rough: Rough) -> None:
    messages = [f"message number {number}" for number in range(WAITING)]
    with Hold() as hold:
        rough.stand.model.will(*[hold.on(echo)] * (2 * WAITING))  # on a busy machine some turns ask again
        soon = come_in(rough.stand, messages)
        connections = redis_connections(rough)

    assert [future.result().json() for future in soon] == [{"reply": message} for message in messages]
    assert connections <= MAX_REDIS_CONNECTIONS


def test_a_lost_wake_up_is_made_good_within_two_seconds(rough: Rough) -> None:
    messages = [f"message {number}" for number in range(5)]
    with Hold() as hold, redis.Redis.from_url(rough.redis.url) as client:
        rough.stand.model.will(*[hold.on(echo)] * (2 * 5))
        soon = come_in(rough.stand, messages)
        (listener,) = [one for one in client.client_list(_type="pubsub") if one["sub"] == "1"]
        assert client.client_kill_filter(_id=listener["id"]) == 1
    started = time.monotonic()

    assert [future.result().json() for future in soon] == [{"reply": message} for message in messages]
    assert time.monotonic() - started < SOON_SECONDS


@pytest.mark.contract("C1", "C41")
@pytest.mark.fault(103)
def test_requests_that_wait_while_redis_is_lost_and_comes_back_empty_get_their_answers(rough: Rough) -> None:
    """The turns end while Redis is away, refund and all: the row is the result, and the mirror catches up."""
    orders = [f"A{number}" for number in range(50)]
    with Hold() as hold:
        # It answers what it is shown: a turn that has to ask again must not get another turn's answer.
        rough.stand.model.will(*[hold.on(plain)] * len(orders))
        soon = come_in(rough.stand, [f"please refund $5.00 for order {order}" for order in orders])
        rough.redis.stop()

    answered, _ = wait(soon, timeout=AWAY_SECONDS)
    rough.redis.start()
    answers = [future.result() for future in soon]

    # A turn whose worker was starved past its lease is queued again, and that needs Redis: never many.
    assert len(answered) >= MOST, "nobody waits for Redis"
    assert [answer.json() for answer in answers] == [{"reply": told(rough, answer)} for answer in answers]
    assert sorted(rough.stand.payments.moved) == sorted((order, 500) for order in orders)
    assert {gate_state(rough, answer) for answer in answers} == {"paid"}
    wait_until(lambda: all(rough.stand.mirror(turn_id(a)).get("state") == "paid" for a in answers))
    assert rough.stand.chat("hello").status_code == 200


@pytest.mark.contract("C31")
@pytest.mark.fault(256)
def test_a_redis_that_was_flushed_in_the_middle_of_a_turn_grants_no_second_refund(rough: Rough) -> None:
    """Queue, bindings, presence and mirror are gone; the ledger is not in Redis."""
    again = calls_refund("A1", 500)
    with Hold() as hold, redis.Redis.from_url(rough.redis.url) as client:
        rough.stand.model.will(again, hold.on(again), says("Done."))
        (soon,) = come_in(rough.stand, ["refund please"])
        assert rough.stand.payments.wait_for_moved(1)
        client.flushall()

    assert soon.result().json() == {"reply": "Done."}
    assert rough.stand.payments.moved == [("A1", 500)]
    assert rough.stand.chat("hello").status_code == 200


def come_in(stand: Stand, messages: list[str]) -> list[Future[requests.Response]]:
    """Ask in waves, as what is tested is the waiting and not the rush; return once all turns are held."""
    soon: list[Future[requests.Response]] = []
    for start in range(0, len(messages), WAVE):
        soon += [
            stand.pool.submit(ask_until_taken, stand, message) for message in messages[start : start + WAVE]
        ]
        assert stand.model.wait_for_requests(len(soon), timeout_seconds=18.0)
    return soon


def gate_state(rough: Rough, answer: requests.Response) -> str:
    row = rough.stand.gate(turn_id(answer))
    assert row is not None
    return str(row["state"])


def told(rough: Rough, answer: requests.Response) -> str:
    """Return what the model's stand-in makes of the receipt in this answer's ledger row."""
    row = rough.stand.gate(turn_id(answer))
    assert row is not None
    return report([{name: row[name] for name in ("refund_id", "status", "amount_cents")}])


def redis_connections(rough: Rough) -> int:
    """Count every connection that web and worker hold."""
    with redis.Redis.from_url(rough.redis.url, client_name="the-test") as client:
        return sum(entry["name"] != "the-test" for entry in client.client_list())
