"""Whatever the broker delivers, and however often: one run of a turn that was stored, and no other."""

import base64
import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import redis
from celery import Celery

from sandbox.model import calls_refund, says
from tests.functional.plays import Hold
from tests.functional.stand import TASK, Stand, turn_id, wait_until

QUEUE = "turns"


@pytest.fixture
def broker(stand: Stand) -> Iterator[Celery]:
    """Give a client of the same broker, which can say anything."""
    app = Celery(broker=stand.redis_url, set_as_current=False)
    app.conf.update(task_default_queue=QUEUE, result_backend=None, task_publish_retry=False)
    yield app
    app.close()


@pytest.mark.contract("C31", "C44")
@pytest.mark.fault(72, 75)
def test_one_message_delivered_six_times_in_one_instant_is_one_run(stand: Stand, broker: Celery) -> None:
    stand.stop_worker()
    try:
        soon = stand.chat_soon("refund 5.00 for order A1")
        wait_until(lambda: [turn["state"] for turn in stand.turns()] == ["queued"])
        (turn,) = stand.turns()
        for _ in range(5):
            publish(broker, turn["id"])
    finally:
        stand.let_worker_go_on()

    assert soon.result().status_code == 200
    wait_until(lambda: len(stand.endings(turn["id"])) == 6)
    assert sorted(stand.endings(turn["id"])) == ["NothingToDo"] * 5 + ["Replied"]
    assert (stand.model.request_count, stand.payments.moved) == (2, [("A1", 500)])


@pytest.mark.contract("C43", "C44")
@pytest.mark.fault(73)
def test_a_message_redelivered_while_its_turn_runs_re_runs_nothing(stand: Stand, broker: Celery) -> None:
    """As the broker does after its visibility time-out, here with the refund already made."""
    with Hold() as hold:
        stand.model.will(calls_refund("A1", 500), hold.on(says("Done.")))
        soon = stand.chat_soon("refund 5.00 for order A1")
        assert stand.payments.wait_for_moved(1)
        (turn,) = stand.turns()
        for _ in range(3):
            redeliver(stand, broker, turn["id"])
        wait_until(lambda: stand.endings(turn["id"]) == ["NothingToDo"] * 3)

    assert soon.result().json() == {"reply": "Done."}
    assert (stand.payments.request_count, stand.payments.moved) == (1, [("A1", 500)])
    assert stand.model.request_count == 2


@pytest.mark.contract("C44")
@pytest.mark.fault(72)
def test_a_message_delivered_again_after_its_turn_ended_changes_nothing(stand: Stand, broker: Celery) -> None:
    answer = stand.chat("refund 5.00 for order A1")
    wait_until(lambda: is_mirrored(stand, turn_id(answer)))
    before = stand.turn(turn_id(answer)), stand.gate(turn_id(answer))

    publish(broker, turn_id(answer))

    stand.wait_for_task(turn_id(answer), "NothingToDo")
    assert (stand.turn(turn_id(answer)), stand.gate(turn_id(answer))) == before
    assert (stand.model.request_count, stand.payments.request_count) == (2, 1)


def is_mirrored(stand: Stand, turn_id: str) -> bool:
    """Whether a sweep has noted that the mirror shows the refund: the last change of its row."""
    gate = stand.gate(turn_id)
    return gate is not None and gate["mirrored_state"] == gate["state"]


@pytest.mark.contract("C74")
def test_a_task_for_a_turn_that_was_never_stored_does_nothing(stand: Stand, broker: Celery) -> None:
    stray = str(uuid.uuid4())

    publish(broker, stray)

    stand.wait_for_task(stray, "NothingToDo")
    assert stand.turns() == []
    assert (stand.model.request_count, stand.payments.request_count) == (0, 0)


@pytest.mark.parametrize("args", [[], ["x" * 10_000], [None], [{"turn_id": "x"}], ["a", "b"]], ids=repr)
def test_a_message_that_makes_no_sense_does_no_harm(stand: Stand, broker: Celery, args: list[Any]) -> None:
    """Whoever may use Flower may send any task."""
    broker.send_task(TASK, args=args, retry=False)

    assert stand.chat("hello").status_code == 200
    assert stand.model.request_count == 1
    assert len(stand.turns()) == 1
    stand.worker.must_run()


NO_MESSAGES = {
    "text": b"not JSON",
    "bytes": b"\xff\xfe\x00",
    "a list": b"[]",
    "a number": b"1",
    "nothing in it": b"{}",
    "no properties": b'{"body": "e30=", "headers": {}}',
    "no delivery": b'{"body": "e30=", "headers": {}, "properties": {}}',
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("garbage", NO_MESSAGES.values(), ids=NO_MESSAGES.keys())
def test_what_is_no_message_at_all_is_thrown_away_and_the_worker_goes_on(
    stand: Stand, garbage: bytes
) -> None:
    """Whoever may use the broker may put anything there, and a turn may be running meanwhile."""
    with Hold() as hold:
        stand.model.will(hold.on(says("Hello.")))
        soon = stand.chat_soon("hello")
        assert stand.model.wait_for_requests(1)
        with redis.Redis.from_url(stand.redis_url) as client:
            client.lpush(QUEUE, garbage)
            wait_until(lambda: not client.exists(QUEUE))
        assert stand.chat("hello").status_code == 200

    assert soon.result().json() == {"reply": "Hello."}
    stand.worker.must_run()


def test_a_message_whose_time_is_over_is_not_run(stand: Stand, broker: Celery) -> None:
    """Its turn was lost on the way; the sweeper may queue it again, while there is time."""
    stand.stop_worker()
    try:
        late = str(uuid.uuid4())
        publish(broker, late, expires=datetime.now(UTC) - timedelta(seconds=1))  # noqa: TID251 - a real one
    finally:
        stand.let_worker_go_on()

    wait_until(lambda: f"Discarding revoked task: {TASK}[{late}]" in stand.worker.log.read_text())
    assert stand.chat("hello").status_code == 200
    assert stand.endings(late) == []


@pytest.mark.fault(99)
def test_a_message_with_more_in_it_than_we_know_is_run_all_the_same(stand: Stand, broker: Celery) -> None:
    """A newer release may send more, while this one still works."""
    with Hold() as hold:
        stand.model.will(hold.on(says("Hello.")))
        soon = stand.chat_soon("hello")
        assert stand.model.wait_for_requests(1)
        (turn,) = stand.turns()
        publish(broker, turn["id"], kwargs={"version": 2, "priority": "high"})
        stand.wait_for_task(turn["id"], "NothingToDo")

    assert soon.result().json() == {"reply": "Hello."}


def publish(broker: Celery, turn: str, **more: Any) -> None:
    """Send a turn's message once more."""
    broker.send_task(TASK, args=[turn], task_id=turn, retry=False, **more)


def redeliver(stand: Stand, broker: Celery, turn: str) -> None:
    """Put a message back as Celery's Redis transport does, with the flag that says so."""
    elsewhere = f"copy-{uuid.uuid4()}"
    broker.send_task(TASK, args=[turn], task_id=turn, retry=False, queue=elsewhere)
    with redis.Redis.from_url(stand.redis_url) as client:
        message = json.loads(client.lpop(elsewhere))
        assert json.loads(base64.b64decode(message["body"]))[0] == [turn]
        message["headers"]["redelivered"] = True
        message["properties"]["delivery_info"].update(redelivered=True, routing_key=QUEUE)
        client.rpush(QUEUE, json.dumps(message))
