"""The ids of a request, and the one line that is logged about it."""

import io
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from refund_agent import logs
from refund_agent.facade import AskAnswer
from refund_agent.turn import NewTurn
from tests.functional.web.conftest import Web

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.fixture
def lines() -> Iterator[Any]:
    """Configure logging as a process does; call for the lines written so far."""
    stream = io.StringIO()
    root = logging.getLogger()
    before = (list(root.handlers), root.level)
    logs.configure(logging.DEBUG, stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.handlers[:], root.level = before
    structlog.reset_defaults()


@pytest.mark.parametrize("given", ["a", "req-1", "A.b_c-9", "x" * 128])
def test_a_sane_request_id_is_kept(web: Web, given: str) -> None:
    answer = web.client.post(
        "/support/refund-chat", json={"user_id": "u", "message": "m"}, headers={"X-Request-Id": given}
    )

    assert answer.headers["X-Request-Id"] == given
    assert web.facade.asked[0].request_id == given


@pytest.mark.parametrize(
    "given", ["", " ", "a b", "a:b", "x" * 129, "é", "a\x00", "<script>", "a/b", "a\u2028"]
)
def test_any_other_request_id_is_replaced(web: Web, given: str) -> None:
    answer = web.client.get("/nothing", environ_overrides={"HTTP_X_REQUEST_ID": given})

    assert re.fullmatch(r"[0-9a-f]{32}", answer.headers["X-Request-Id"])


def test_two_requests_have_two_ids(web: Web) -> None:
    first, second = web.ask(), web.ask()

    assert first.headers["X-Request-Id"] != second.headers["X-Request-Id"]
    assert first.headers["X-Turn-Id"] != second.headers["X-Turn-Id"]
    assert UUID.fullmatch(first.headers["X-Turn-Id"])


def test_a_request_is_one_line(web: Web, lines: Any) -> None:
    answer = web.ask()

    (line,) = lines()
    assert line.pop("duration_ms") >= 0
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "request",
        "level": "info",
        "logger": "web.access_log",
        "method": "POST",
        "route": "/support/refund-chat",
        "status": 200,
        "problem": None,
        "request_id": answer.headers["X-Request-Id"],
        "turn_id": answer.headers["X-Turn-Id"],
    }


def test_a_problem_is_named_in_the_line(web: Web, lines: Any) -> None:
    web.ask(message="")

    (line,) = lines()
    assert (line["status"], line["problem"]) == (422, "urn:refund-agent:problem:invalid-body")


def test_lines_of_the_turn_carry_its_ids_and_later_lines_do_not(web: Web, lines: Any) -> None:
    log = structlog.stdlib.get_logger("anywhere")
    answered = web.facade.answer

    def answer(new: NewTurn) -> AskAnswer:
        log.info("inside")
        return answered(new)

    web.facade.answer = answer
    response = web.ask()
    log.info("afterwards")

    inside, _, afterwards = lines()
    assert inside["turn_id"] == response.headers["X-Turn-Id"]
    assert inside["request_id"] == response.headers["X-Request-Id"]
    assert not {"turn_id", "request_id"} & afterwards.keys()


def test_healthz_writes_no_line(web: Web, lines: Any) -> None:
    web.client.get("/healthz")

    assert lines() == []


@pytest.mark.parametrize("method", ["GET", "CANARY"])
def test_a_path_is_never_logged(web: Web, lines: Any, method: str) -> None:
    web.client.open("/CANARY?CANARY=CANARY", method=method)

    (line,) = lines()
    assert line["route"] == "none"
    assert "CANARY" not in json.dumps(line)


@pytest.mark.fault(65, 69)
def test_what_a_customer_says_is_in_no_line_whatever_happens(web: Web, lines: Any) -> None:
    def breaks(new: NewTurn) -> AskAnswer:
        raise RuntimeError(f"{new.user_id} said {new.message}")

    fields = {"user_id": "CANARY-user", "message": "CANARY-message"}
    headers = {"Authorization": "Bearer CANARY-token", "User-Agent": "CANARY", "Cookie": "CANARY=CANARY"}
    for answer in (web.facade.answer, breaks):
        web.facade.answer = answer
        web.client.post("/support/refund-chat", json=fields, headers=headers)
        web.client.post("/support/refund-chat", json={**fields, "CANARY": 1}, headers=headers)
    web.client.post("/support/refund-chat?CANARY=1", data="CANARY", headers=headers)

    written = lines()
    assert [line["event"] for line in written].count("request") == 5
    assert [line["exception"][0] for line in written if line["event"] == "request_broken"] == [
        "builtins.RuntimeError"
    ]
    assert "CANARY" not in json.dumps(written)
