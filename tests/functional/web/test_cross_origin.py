"""CORS: pages of the portals in CHAT_ORIGINS may ask what the chat asks, and nobody else anything."""

from dataclasses import replace

import pytest
from werkzeug.test import TestResponse

from refund_agent.outcomes import Replied
from refund_agent.turn import TurnRecord
from tests.functional.web.conftest import Web, problem_of
from tests.functional.web.people import bearer, sign_in

PORTAL = "https://shop.example"
ID = "3ebe713f-5a53-4c57-8d0c-0f8b6a2f8a11"
TURN = f"/support/turns/{ID}"
ASKED = [
    ("POST", "/support/chat"),
    ("GET", "/support/conversations"),
    ("GET", f"/support/conversations/{ID}"),
    ("GET", "/support/orders"),
    ("GET", TURN),
    ("GET", f"{TURN}/events"),
]
NOT_ASKED = [
    ("POST", "/support/refund-chat"),
    ("POST", "/support/tickets"),
    ("GET", "/support/approvals"),
    ("POST", f"/support/approvals/{ID}"),
    ("POST", f"/support/conversations/{ID}/take"),
    ("POST", f"/support/conversations/{ID}/messages"),
    ("POST", "/dev/token"),
    ("GET", "/chat"),
    ("POST", "/console/session"),
    ("GET", "/support/turns/x"),
]
FOREIGN = [
    "https://evil.example",
    "http://shop.example",
    "https://shop.example.evil.example",
    "https://shop.example:8443",
    "https://SHOP.example",
    "null",
    "*",
    "",
]


@pytest.fixture
def site(web: Web) -> Web:
    web.sign_in = sign_in()
    web.set(portal_tokens=("t",), support=replace(web.settings.support, chat_origins=(PORTAL,)))
    web.facade.found[ID] = TurnRecord(
        ID, "ended", 0, 1, outcome=Replied("."), agent="support", user_id="alice"
    )
    return web


def preflight(web: Web, method: str, path: str, origin: str = PORTAL) -> TestResponse:
    headers = {"Origin": origin, "Access-Control-Request-Method": method}
    return web.client.open(path, method="OPTIONS", headers=headers)


def cors_of(answer: TestResponse) -> dict[str, str]:
    return {name: value for name, value in answer.headers if name.startswith("Access-Control")}


@pytest.mark.parametrize(("method", "path"), ASKED)
def test_a_portals_page_may_ask_what_the_chat_asks(site: Web, method: str, path: str) -> None:
    answer = preflight(site, method, path)
    assert (answer.status_code, answer.data) == (204, b"")
    assert cors_of(answer) == {
        "Access-Control-Allow-Origin": PORTAL,
        "Access-Control-Allow-Methods": method,
        "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, Last-Event-ID",
        "Access-Control-Expose-Headers": cors_of(answer)["Access-Control-Expose-Headers"],
        "Access-Control-Max-Age": "600",
    }
    assert site.facade.asked == []


@pytest.mark.parametrize(("method", "path"), NOT_ASKED)
def test_everything_else_stays_with_its_own_origin(site: Web, method: str, path: str) -> None:
    assert cors_of(preflight(site, method, path)) == {}
    assert cors_of(site.client.open(path, method=method, headers={"Origin": PORTAL})) == {}


@pytest.mark.fault(54)
@pytest.mark.parametrize("origin", FOREIGN)
def test_another_origin_may_ask_nothing(site: Web, origin: str) -> None:
    assert cors_of(preflight(site, "GET", f"{TURN}/events", origin)) == {}
    assert cors_of(site.client.get(TURN, headers={**bearer("is-alice"), "Origin": origin})) == {}


@pytest.mark.fault(54)
def test_an_origin_that_may_ask_is_still_nobody_without_a_token(site: Web) -> None:
    answer = site.client.get(TURN, headers={"Origin": PORTAL})
    problem_of(answer, 401)
    assert answer.headers["Access-Control-Allow-Origin"] == PORTAL, "its page reads why"


def test_a_portals_page_reads_the_answer_and_what_it_needs_of_the_headers(site: Web) -> None:
    answer = site.client.get(TURN, headers={**bearer("is-alice"), "Origin": PORTAL})
    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == PORTAL
    exposed = answer.headers["Access-Control-Expose-Headers"].split(", ")
    assert {"X-Turn-Id", "X-Conversation-Id", "Retry-After", "Idempotent-Replayed"} <= set(exposed)
    assert "Access-Control-Allow-Credentials" not in answer.headers, "no cookie is ever taken from there"


def test_a_cache_keeps_the_answers_of_different_origins_apart(site: Web) -> None:
    for origin in (PORTAL, "https://evil.example"):
        answer = site.client.get(TURN, headers={**bearer("is-alice"), "Origin": origin})
        assert "Origin" in answer.headers["Vary"]


def test_a_preflight_needs_a_method_that_the_path_takes(site: Web) -> None:
    assert cors_of(preflight(site, "DELETE", TURN)).keys() <= {
        "Access-Control-Allow-Origin",
        "Access-Control-Expose-Headers",
    }
    assert preflight(site, "DELETE", TURN).status_code != 204


def test_without_origins_only_our_own_pages_may_ask(web: Web) -> None:
    web.sign_in = sign_in()
    assert cors_of(preflight(web, "POST", "/support/chat")) == {}
    assert cors_of(web.client.get(TURN, headers={"Origin": PORTAL})) == {}
