"""Enqueueing can neither hang nor lie: 503 within 3 s, and that turn never runs."""

import time
from concurrent.futures import Future
from threading import Event

import pytest
import requests

from sandbox.model import calls_refund
from tests.functional.plays import Hold
from tests.functional.rough import Rough
from tests.functional.stand import Stand, problem, turn_id

ENOUGH_SECONDS = 4.0
"""Three by the contract, and one for a busy machine."""


@pytest.mark.contract("C72", "C73", "C74")
@pytest.mark.fault(79)
@pytest.mark.parametrize("fault", ["refuse", "swallow", "freeze"])
def test_a_broker_that_is_away_is_503_within_three_seconds_and_the_turn_never_runs(
    rough: Rough, fault: str
) -> None:
    getattr(rough.way_to_redis, fault)()

    answer, seconds = timed(rough.stand, "refund 5.00 for order A1")

    assert seconds < ENOUGH_SECONDS
    refused_for_ever(rough.stand, answer)
    rough.heal()
    nothing_but_the_next_turn_runs(rough.stand)


@pytest.mark.contract("C72", "C73", "C74")
@pytest.mark.fault(79)
def test_twenty_requests_at_once_with_redis_frozen_are_all_503_within_three_seconds(rough: Rough) -> None:
    """The process itself is stopped: the kernel still takes connections and bytes for it."""
    rough.redis.freeze()

    soon: list[Future[tuple[requests.Response, float]]] = [
        rough.stand.pool.submit(timed, rough.stand, f"refund 5.00 for order A{number}")
        for number in range(20)
    ]
    answers = [future.result() for future in soon]

    assert max(seconds for _, seconds in answers) < ENOUGH_SECONDS
    for answer, _ in answers:
        refused_for_ever(rough.stand, answer)
    rough.heal()
    nothing_but_the_next_turn_runs(rough.stand)


@pytest.mark.contract("C72", "C74")
@pytest.mark.fault(78)
def test_a_message_that_was_queued_although_its_publish_failed_never_runs(rough: Rough) -> None:
    rough.stand.stop_worker()
    rough.way_to_redis.cut_after(b"LPUSH")

    answer, seconds = timed(rough.stand, "refund 5.00 for order A1")

    assert rough.way_to_redis.cuts == 1, "Redis has the message, and has it once"
    assert seconds < ENOUGH_SECONDS
    refused_for_ever(rough.stand, answer)
    rough.heal()
    rough.stand.wait_for_task(turn_id(answer), "NothingToDo")
    nothing_but_the_next_turn_runs(rough.stand)


@pytest.mark.contract("C74")
@pytest.mark.fault(78)
def test_a_turn_that_a_worker_took_although_its_publish_failed_stops_at_the_closed_gate(rough: Rough) -> None:
    """The worker is in the middle of a completion when the publish fails: it gets no refund from it."""
    taken = Event()
    rough.way_to_redis.cut_after(b"LPUSH", until=taken)
    with Hold() as hold:
        rough.stand.model.will(hold.on(calls_refund("A1", 500)))
        soon = rough.stand.chat_soon("refund 5.00 for order A1")
        assert rough.stand.model.wait_for_requests(1)
        taken.set()
        answer = soon.result()

    refused_for_ever(rough.stand, answer)
    rough.heal()
    rough.stand.wait_for_task(turn_id(answer), "Superseded")
    assert (rough.stand.model.request_count, rough.stand.payments.request_count) == (1, 0)


@pytest.mark.contract("C75")
@pytest.mark.fault(78)
def test_a_refund_that_was_made_although_the_publish_failed_is_no_503(rough: Rough) -> None:
    """Whoever tries again after a 503 could refund twice, so this is a 504 that says what it knows."""
    rough.stand.payments.delay_seconds = 1.0
    sent = Event()
    rough.way_to_redis.cut_after(b"LPUSH", until=sent)

    soon = rough.stand.chat_soon("refund 5.00 for order A1")
    assert rough.stand.payments.wait_for_requests(1)
    sent.set()
    answer = soon.result()

    document = problem(answer, 504)
    assert "Retry-After" not in answer.headers
    assert document["refund"] == {"state": "unknown", "order_id": "A1", "amount_cents": 500}
    rough.heal()
    rough.stand.wait_for_task(turn_id(answer))
    assert rough.stand.payments.moved == [("A1", 500)]
    row = rough.stand.gate(turn_id(answer))
    assert row is not None
    assert row["state"] == "paid"


@pytest.mark.contract("C72")
def test_a_broker_that_is_back_takes_the_next_request(rough: Rough) -> None:
    rough.way_to_redis.refuse()
    problem(rough.stand.chat("hello"), 503)
    rough.heal()

    answer = rough.stand.chat("refund 5.00 for order A1")

    assert answer.status_code == 200
    assert rough.stand.payments.moved == [("A1", 500)]


def test_ready_is_503_in_time_when_redis_is_frozen(rough: Rough) -> None:
    rough.way_to_redis.freeze()
    started = time.monotonic()

    answer = rough.stand.get("/readyz")

    assert time.monotonic() - started < ENOUGH_SECONDS
    assert answer.status_code == 503
    assert answer.json()["checks"]["redis"] != "ok"
    assert answer.json()["checks"]["database"] == "ok"
    assert rough.stand.get("/healthz").status_code == 200


def timed(stand: Stand, message: str) -> tuple[requests.Response, float]:
    """Ask, and say how long it took."""
    started = time.monotonic()
    answer = stand.chat(message)
    return answer, time.monotonic() - started


def refused_for_ever(stand: Stand, answer: requests.Response) -> None:
    """Check a 503 that says when to come back, and the closed gate behind it."""
    document = problem(answer, 503)
    assert document["type"] == "urn:refund-agent:problem:not-queued"
    assert document["refund"] is None
    assert int(answer.headers["Retry-After"]) >= 1
    row, turn = stand.gate(turn_id(answer)), stand.turn(turn_id(answer))
    assert row is not None
    assert turn is not None
    assert row["state"] == "closed"
    assert (turn["state"], turn["outcome"]) == ("ended", "not_accepted")


def nothing_but_the_next_turn_runs(stand: Stand) -> None:
    """Send one more turn through the queue behind whatever is in it; only that one may run."""
    before = stand.model.request_count
    answer = stand.chat("hello")

    assert answer.status_code == 200, answer.text
    assert stand.model.request_count == before + 1 == 1
    assert stand.payments.request_count == 0
    assert stand.payments.moved == []
