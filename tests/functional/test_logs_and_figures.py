"""What an operator sees: one JSON line a thing that happened, readiness, and figures that add up."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from sandbox.model import says
from tests.functional.fragile_redis import FragileRedis
from tests.functional.plays import Hold
from tests.functional.stand import Stand, another_web, turn_id, wait_until, web_lives


@pytest.fixture(scope="module")
def second_web(running_stand: Stand, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    """Give the same service, asked through one more web process."""
    with another_web(running_stand, tmp_path_factory.mktemp("second") / "web.log") as second:
        yield second


def test_a_turns_lines_in_web_and_worker_carry_its_id_and_the_requests(stand: Stand) -> None:
    answer = stand.chat("refund 5.00 for order A1", headers={"X-Request-Id": "portal-request-17"})

    assert answer.headers["X-Request-Id"] == "portal-request-17"
    stand.wait_for_task(turn_id(answer))
    for process in (stand.web, stand.worker):
        lines = [line for line in json_lines(process.log) if line.get("turn_id") == turn_id(answer)]
        assert lines
        assert {line["request_id"] for line in lines} == {"portal-request-17"}
        assert all({"event", "level", "logger", "timestamp"} <= line.keys() for line in lines)


def test_a_request_id_is_made_up_when_the_portal_sends_none_or_a_strange_one(stand: Stand) -> None:
    nobodys = stand.chat("hello").headers["X-Request-Id"]
    strange = stand.chat("hello", headers={"X-Request-Id": "a b\tc"}).headers["X-Request-Id"]

    assert nobodys.isalnum()
    assert strange.isalnum()
    assert nobodys != strange


def test_the_web_logs_one_json_line_a_request_and_nothing_else(stand: Stand) -> None:
    answer = stand.chat("[http-500] hello")

    wait_until(lambda: bool(requests_of(stand, turn_id(answer))))
    (line,) = requests_of(stand, turn_id(answer))
    assert (line["method"], line["route"], line["status"]) == ("POST", "/support/refund-chat", 502)
    assert line["problem"] == "urn:refund-agent:problem:provider-failed"
    assert line["duration_ms"] > 0
    for printed in stand.web.log.read_text("utf-8").splitlines():
        assert isinstance(json.loads(printed), dict)


def test_ready_names_what_is_there(stand: Stand) -> None:
    ready = stand.get("/readyz")

    assert ready.status_code == 200
    assert ready.json()["checks"] == {"database": "ok", "redis": "ok", "worker": "ok"}


def test_ready_is_503_without_a_worker(stand: Stand, tmp_path: Path) -> None:
    """A web on a Redis where no worker has ever been."""
    with (
        FragileRedis() as empty,
        another_web(stand, tmp_path / "web.log", ready=web_lives, REDIS_URL=empty.url) as lonely,
    ):
        answer = lonely.get("/readyz")

    assert answer.status_code == 503
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["checks"] == {"database": "ok", "redis": "ok", "worker": "failed"}


def test_the_figures_add_up_across_web_processes(stand: Stand, second_web: Stand) -> None:
    stand.chat("refund 5.00 for order A1")
    second_web.chat("hello")
    stand.chat("[http-500] hello")

    for one in (stand, second_web):
        figures = figures_of(one)
        assert figures["refund_agent_turns_total", "replied"] == 2
        assert figures["refund_agent_turns_total", "provider_failed"] == 1
        assert figures["refund_agent_refunds", "paid"] == 1
        assert figures["refund_agent_turn_duration_seconds_count", ""] == 3


def test_the_requests_that_wait_add_up_across_web_processes(stand: Stand, second_web: Stand) -> None:
    with Hold() as hold:
        stand.model.will(*[hold.on(says("Hello."))] * 3)
        soon = [one.chat_soon("hello") for one in (stand, stand, second_web)]
        assert stand.model.wait_for_requests(3)
        wait_until(lambda: sum(waiting(stand)) == 3)
        assert sorted(waiting(second_web)) == sorted(waiting(stand))
        assert sorted(count for count in waiting(stand) if count) == [1, 2]

    assert {future.result().status_code for future in soon} == {200}


def json_lines(log: Path) -> Iterator[dict[str, Any]]:
    for line in log.read_text("utf-8").splitlines():
        if line.startswith("{"):
            yield json.loads(line)


def requests_of(stand: Stand, turn: str) -> list[dict[str, Any]]:
    """Return the web's request lines of a turn."""
    lines = json_lines(stand.web.log)
    return [line for line in lines if line["event"] == "request" and line.get("turn_id") == turn]


def figures_of(stand: Stand) -> dict[tuple[str, str], float]:
    """Return the samples of `/metrics` by name and the value of their label, if they have one."""
    families = text_string_to_metric_families(stand.get("/metrics").text)
    return {
        (sample.name, "".join(sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


def waiting(stand: Stand) -> list[float]:
    return [n for (name, _), n in figures_of(stand).items() if name == "refund_agent_waiting_requests"]
