"""The web process dies while a customer waits: the turn goes on, and a retry with the same key finds it."""

import json
import socket
import uuid

import pytest

from tests.chaos.caller import PATH, look
from tests.chaos.conftest import Strike
from tests.chaos.lane import Lane
from tests.chaos.outside import LAST
from tests.functional.stand import wait_until


@pytest.mark.fault(34)
def test_a_retry_with_the_same_key_after_the_web_died_finds_the_same_turn(strike: Strike) -> None:
    evidence = strike("completion 1", "web SIGKILL")

    assert str(evidence.first) == "connection broke"
    assert str(evidence.later[0]) == "200 paid"
    assert len(evidence.turns) == 1
    assert evidence.turns[0]["epoch"] == 1, "it was run once"
    assert (evidence.posts, evidence.movements) == (1, 1)


@pytest.mark.fault(37)
def test_a_web_that_dies_before_it_has_published_leaves_a_turn_that_never_runs(strike: Strike) -> None:
    evidence = strike("stored", "web SIGKILL")

    first = evidence.turns[0]
    assert str(evidence.first) == "connection broke"
    assert (first["outcome"], first["epoch"]) == ("not_accepted", 0)
    assert evidence.made[first["id"]] == 0
    assert evidence.movements == evidence.posts <= 1, "a retry is a turn of its own, or joined the dead one"


def test_requests_that_wait_while_redis_is_restarted_get_their_answer(strike: Strike) -> None:
    evidence = strike("completion 1", "Redis restarted")

    assert str(evidence.first) == "200 paid"
    assert (evidence.posts, evidence.movements) == (1, 1)


@pytest.mark.fault(35)
def test_a_customer_who_has_gone_can_read_the_turn_by_its_id(lane: Lane) -> None:
    lane.make_whole()
    order_id = f"order-{uuid.uuid4().hex[:12]}"
    hold = lane.model.hold(LAST)
    body = json.dumps({"user_id": order_id, "message": order_id}).encode()
    port = int(lane.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as customer:
        customer.sendall(
            f"POST {PATH} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        hold.wait_until_arrived()
    hold.release()
    wait_until(lambda: lane.turns_of(order_id)[0]["state"] == "ended")

    (turn,) = lane.turns_of(order_id)
    assert str(look(lane.url, turn["id"])) == "200 paid"
    assert (turn["epoch"], turn["completions_used"]) == (1, 2)
    assert lane.payments.posts(order_id) == 1
