"""Paths and methods that are not there, and what every answer carries."""

import pytest

from tests.functional.web.conftest import Web, problem_of

ROUTE = "/support/refund-chat"


@pytest.mark.fault(24)
@pytest.mark.contract("C12")
@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"])
def test_another_method_is_405_with_allow(web: Web, method: str) -> None:
    answer = web.client.open(ROUTE, method=method)

    problem_of(answer, 405)
    assert answer.headers["Allow"] == "POST"


def test_head_is_405_without_a_body(web: Web) -> None:
    answer = web.client.head(ROUTE)

    assert (answer.status_code, answer.headers["Allow"], answer.data) == (405, "POST", b"")


@pytest.mark.fault(25)
@pytest.mark.contract("C12")
@pytest.mark.parametrize(
    "path",
    [
        ROUTE + "/",
        "/" + ROUTE,
        "/support//refund-chat",
        "/support/refund-chat/x",
        "/Support/refund-chat",
        "/support/../support/refund-chat",
        "/support",
        "/support/",
        "/nothing",
        "/healthz/",
        "/docs/",
        "/docs/../app.py",
        "/docs/index.html",
        "/demo/",
        "/static/chat.js",
        "/%ff%00",
        "/a\r\nb",
        "/" + "x" * 5000,
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_path_that_is_not_there_is_404_as_json(web: Web, method: str, path: str) -> None:
    problem_of(web.client.open(path, method=method, headers={"Accept": "text/html"}), 404)


def test_a_trailing_slash_stores_nothing(web: Web) -> None:
    problem_of(web.client.post(ROUTE + "/", json={"user_id": "u", "message": "m"}), 404)
    assert web.facade.asked == []


@pytest.mark.contract("C16")
def test_every_problem_of_the_route_has_the_id_of_its_header(web: Web) -> None:
    answers = [
        web.send("{"),
        web.send("{}"),
        web.send("{}", "text/plain"),
        web.send("x" * 70_000),
        web.client.get(ROUTE),
        web.client.get(ROUTE + "/"),
    ]

    ids = [answer.json["turn_id"] for answer in answers if answer.json]
    assert ids == [answer.headers["X-Turn-Id"] for answer in answers]
    assert len(set(ids)) == len(answers)


def test_a_problem_elsewhere_has_no_turn(web: Web) -> None:
    answer = web.client.get("/nothing")

    assert problem_of(answer, 404)["turn_id"] is None
    assert "X-Turn-Id" not in answer.headers


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/healthz", "/readyz", "/metrics", "/nothing", ROUTE, "/openapi.json"]
)
def test_every_answer_has_the_security_headers(web: Web, path: str) -> None:
    headers = web.client.get(path).headers

    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "http" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in headers


def test_nothing_of_the_route_is_cached(web: Web) -> None:
    for answer in (web.ask(), web.ask(message=""), web.client.get(ROUTE)):
        assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "host", ["", "a b", "x" * 300, "ü.example", "127.0.0.1:99999", "evil.example", "[::1"]
)
def test_a_strange_host_is_never_a_500(web: Web, host: str) -> None:
    assert web.client.get("/nothing", headers={"Host": host}).status_code in {400, 404}


def test_a_bug_before_the_turn_is_500_and_no_refund(web: Web) -> None:
    web.probes["broken"] = lambda: None
    app = web.client.application

    @app.before_request
    def breaks() -> None:
        raise KeyError("CANARY")

    answer = web.ask()
    assert problem_of(answer, 500)["refund"] is None
    assert "CANARY" not in answer.text
    assert web.facade.asked == []
