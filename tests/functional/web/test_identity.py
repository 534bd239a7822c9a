"""Who may call which route below /support/, and see which turn."""

import logging
from typing import Any

import pytest
from flask import Flask, jsonify
from werkzeug.test import TestResponse

from refund_agent.facade import Unreadable
from refund_agent.outcomes import Replied
from refund_agent.settings import Settings
from refund_agent.turn import TurnRecord
from tests.functional.web.conftest import Web, problem_of
from tests.functional.web.people import ALICE, DANA, SAM, FakeTickets, bearer, sign_in
from web import identity, ids, problems

PORTAL = "portal-token-0123456789"
MISSING = "00000000-0000-4000-8000-000000000000"
OF_ALICE = "11111111-1111-4111-8111-111111111111"
OF_BOB = "22222222-2222-4222-8222-222222222222"
OF_PORTAL = "33333333-3333-4333-8333-333333333333"


@pytest.fixture
def shop(web: Web) -> Web:
    """The service with a support agent, and one turn of each kind."""
    web.set(portal_tokens=(PORTAL,))
    web.sign_in = sign_in()
    for turn_id, user_id, conversation_id in [
        (OF_ALICE, "alice", "conversation-1"),
        (OF_BOB, "bob", "conversation-2"),
        (OF_PORTAL, "alice", ""),
    ]:
        web.facade.found[turn_id] = TurnRecord(
            turn_id,
            "ended",
            0,
            0,
            outcome=Replied("hi"),
            agent="support" if conversation_id else "refund_chat",
            user_id=user_id,
            conversation_id=conversation_id,
        )
    return web


def show(web: Web, turn_id: str, token: str) -> TestResponse:
    return web.client.get(f"/support/turns/{turn_id}", headers=bearer(token))


# --- Turns ----------------------------------------------------------------------------------------


@pytest.mark.fault(52)
@pytest.mark.parametrize(
    ("token", "sees"),
    [
        ("is-alice", {OF_ALICE}),
        ("is-bob", {OF_BOB}),
        ("is-dana", {OF_ALICE, OF_BOB, OF_PORTAL}),
        ("is-sam", {OF_ALICE, OF_BOB, OF_PORTAL}),
        (PORTAL, {OF_PORTAL}),
    ],
)
def test_everybody_sees_their_own_turns_and_staff_all(shop: Web, token: str, sees: set[str]) -> None:
    status = {turn: show(shop, turn, token).status_code for turn in (OF_ALICE, OF_BOB, OF_PORTAL, MISSING)}

    assert {turn for turn, code in status.items() if code == 200} == sees
    assert set(status.values()) == {200, 404}


@pytest.mark.fault(52)
@pytest.mark.parametrize(
    ("token", "foreign"), [("is-alice", OF_BOB), ("is-alice", OF_PORTAL), (PORTAL, OF_BOB)]
)
def test_anothers_turn_answers_exactly_like_one_that_is_not_there(
    shop: Web, token: str, foreign: str
) -> None:
    answers = [show(shop, turn_id, token) for turn_id in (foreign, MISSING)]
    bodies = [
        answer.text.replace(turn_id, "ID")
        for answer, turn_id in zip(answers, (foreign, MISSING), strict=True)
    ]
    headers = [
        {name: value for name, value in answer.headers.items() if name not in {"X-Turn-Id", "X-Request-Id"}}
        for answer in answers
    ]

    assert answers[0].status_code == answers[1].status_code == 404
    assert bodies[0] == bodies[1]
    assert headers[0] == headers[1]


def test_a_turn_that_cannot_be_read_is_nobodys_in_particular(shop: Web) -> None:
    shop.facade.found[OF_BOB] = Unreadable(OF_BOB)

    problem_of(show(shop, OF_BOB, "is-alice"), 503)


# --- No token, no answer --------------------------------------------------------------------------

GUARDED = [
    ("POST", "/support/chat"),
    ("GET", "/support/orders"),
    ("GET", "/support/conversations"),
    ("GET", f"/support/conversations/{MISSING}"),
    ("POST", "/support/tickets"),
    ("GET", f"/support/turns/{OF_ALICE}"),
    ("GET", f"/support/turns/{OF_ALICE}/events"),
    ("GET", "/support/nothing"),
]


@pytest.mark.fault(44, 54)
@pytest.mark.parametrize(("method", "path"), GUARDED)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        bearer(""),
        bearer("forged"),
        bearer("is-alice x"),
        {"Authorization": "is-alice"},
        {"Authorization": "Basic is-alice"},
        {"Cookie": "token=is-alice; Authorization=is-alice"},
        {"X-Customer-Id": "alice", "X-User": "alice"},
    ],
)
def test_without_a_valid_token_it_is_401_before_a_byte_is_read(
    shop: Web, method: str, path: str, headers: dict[str, str]
) -> None:
    answer = shop.client.open(
        path, method=method, data="{", headers={**headers, "Origin": "https://evil.example"}
    )

    problem = problem_of(answer, 401)
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="support"'
    assert problem["detail"] == "A valid token is required. Nothing was read, stored or sent."
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert shop.facade.asked == []


@pytest.mark.parametrize(
    "path", ["/support/chat", "/support/orders", "/support/conversations", "/support/tickets"]
)
def test_a_portals_token_is_no_customers(shop: Web, path: str) -> None:
    problem_of(shop.client.get(path, headers=bearer(PORTAL)), 401)


def test_refund_chat_takes_the_portals_token_and_no_other(shop: Web) -> None:
    body = {"user_id": "u", "message": "m"}
    path = "/support/refund-chat"

    assert shop.client.post(path, json=body, headers=bearer(PORTAL)).status_code == 200
    for token in ("is-alice", "is-dana", ""):
        problem = problem_of(shop.client.post(path, json=body, headers=bearer(token)), 401)
        assert problem["type"] == "urn:refund-agent:problem:token-required"
    assert len(shop.facade.asked) == 1


@pytest.mark.parametrize("path", ["chat", "orders", "conversations", f"conversations/{MISSING}", "tickets"])
@pytest.mark.parametrize("tokens", [(), (PORTAL,)])
def test_without_a_support_agent_its_routes_are_not_there(
    web: Web, path: str, tokens: tuple[str, ...]
) -> None:
    web.set(portal_tokens=tokens)

    problem_of(web.client.get(f"/support/{path}", headers=bearer("is-alice")), 404)


def test_in_development_without_tokens_the_portal_is_open_and_customers_are_not(shop: Web) -> None:
    shop.set(portal_tokens=())

    assert shop.ask().status_code == 200
    assert shop.client.get(f"/support/turns/{OF_PORTAL}").status_code == 200
    problem_of(shop.client.get(f"/support/turns/{OF_ALICE}"), 404)
    problem_of(shop.client.get(f"/support/turns/{OF_ALICE}", headers=bearer("forged")), 401)
    problem_of(shop.client.get("/support/chat"), 401)


# --- Tokens never in a URL, tickets once ----------------------------------------------------------


@pytest.mark.fault(53)
@pytest.mark.parametrize("name", ["access_token", "token", "jwt", "authorization", "ticket"])
def test_a_bearer_token_in_a_url_opens_nothing(shop: Web, name: str) -> None:
    problem_of(shop.client.get(f"/support/turns/{OF_ALICE}?{name}=is-alice"), 401)


def ticket_for(web: Web, path: str, token: str = "is-alice") -> str:  # noqa: S107 - a word that names somebody
    answer = web.client.post("/support/tickets", json={"path": path}, headers=bearer(token))
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    body: dict[str, Any] = answer.get_json()
    assert body["expires_in"] == 30
    return str(body["ticket"])


@pytest.mark.fault(53)
def test_a_ticket_opens_its_path_once(shop: Web) -> None:
    path = f"/support/turns/{OF_ALICE}"
    ticket = ticket_for(shop, path)

    assert shop.client.get(f"{path}?ticket={ticket}").status_code == 200
    problem_of(shop.client.get(f"{path}?ticket={ticket}"), 401)


@pytest.mark.fault(53)
def test_a_ticket_opens_no_other_path_and_no_other_method(shop: Web) -> None:
    path = f"/support/turns/{OF_ALICE}"

    problem_of(shop.client.get(f"/support/turns/{OF_BOB}?ticket={ticket_for(shop, path)}"), 401)
    chat = "/support/tickets"
    problem_of(shop.client.post(f"{chat}?ticket={ticket_for(shop, chat)}", json={"path": path}), 401)


@pytest.mark.fault(52, 53)
def test_a_ticket_shows_no_more_than_its_owner_may_see(shop: Web) -> None:
    path = f"/support/turns/{OF_BOB}"

    problem_of(shop.client.get(f"{path}?ticket={ticket_for(shop, path)}"), 404)


@pytest.mark.fault(53)
def test_neither_token_nor_ticket_is_logged(shop: Web, caplog: pytest.LogCaptureFixture, capsys: Any) -> None:
    caplog.set_level(logging.DEBUG)
    path = f"/support/turns/{OF_ALICE}"
    ticket = ticket_for(shop, path)
    shop.client.get(f"{path}?ticket={ticket}")
    shop.client.get(f"{path}?access_token=is-alice")

    written = caplog.text + "".join(capsys.readouterr())
    assert ticket not in written
    assert "is-alice" not in written


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/support/",
        "//evil.example/support/x",
        "https://evil.example/support/x",
        "/support/x?y",
        "/other/x",
        7,
    ],
)
def test_a_ticket_is_for_a_path_of_ours(shop: Web, path: Any) -> None:
    problem_of(shop.client.post("/support/tickets", json={"path": path}, headers=bearer("is-alice")), 422)


def test_without_redis_tickets_are_503(shop: Web) -> None:
    assert shop.sign_in is not None
    assert isinstance(shop.sign_in.tickets, FakeTickets)
    shop.sign_in.tickets.is_away = True
    asked = shop.client.post("/support/tickets", json={"path": "/support/x"}, headers=bearer("is-alice"))

    problem_of(asked, 503)
    problem_of(shop.client.get(f"/support/turns/{OF_ALICE}?ticket=ticket-1"), 503)
    assert "Retry-After" in asked.headers


# --- What a route asks ----------------------------------------------------------------------------


@pytest.fixture
def doors() -> Flask:
    """An application with a door of each kind."""
    app = Flask("doors")
    ids.install(app)
    identity.install(app, Settings(), sign_in())
    problems.install(app)
    app.add_url_rule("/customers", view_func=lambda: jsonify(identity.require_customer().id))
    app.add_url_rule(
        "/staff", endpoint="s", view_func=lambda: jsonify(identity.require_staff(write=False).id)
    )
    app.add_url_rule("/write", endpoint="w", view_func=lambda: jsonify(identity.require_staff(write=True).id))
    return app


@pytest.mark.parametrize(
    ("token", "statuses"),
    [
        ("is-alice", [200, 403, 403]),
        ("is-sam", [403, 200, 403]),
        ("is-dana", [403, 200, 200]),
        ("forged", [401, 401, 401]),
        ("", [401, 401, 401]),
    ],
)
def test_each_door_opens_to_its_role(doors: Flask, token: str, statuses: list[int]) -> None:
    client = doors.test_client()

    assert [
        client.get(path, headers=bearer(token)).status_code for path in ("/customers", "/staff", "/write")
    ] == (statuses)


def test_a_token_is_verified_once_a_request(shop: Web) -> None:
    show(shop, OF_ALICE, "is-alice")

    assert shop.sign_in is not None
    assert shop.sign_in.identities.asked == ["is-alice"]  # type: ignore[attr-defined]  # the fake's own


def test_who_was_known_in_another_way_is_adopted(doors: Flask) -> None:
    with doors.test_request_context("/staff"):
        identity.adopt(SAM)
        assert identity.require_staff(write=False) == SAM
    with doors.test_request_context("/customers"):
        identity.adopt(ALICE)
        assert identity.require_customer() == ALICE
        assert identity.require_identity() != DANA
