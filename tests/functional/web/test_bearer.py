"""Who may call the routes below /support/."""

import pytest

from refund_agent.turn import TurnRecord
from tests.functional.web.conftest import Web, problem_of

GOOD = {"user_id": "u", "message": "m"}
TOKENS = ("first-token-0123456789", "second-token-é-9876543210")


@pytest.fixture
def guarded(web: Web) -> Web:
    web.set(portal_tokens=TOKENS)
    return web


def latin(token: str) -> str:
    """The token's UTF-8 bytes as WSGI hands them over."""
    return token.encode().decode("latin-1")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
@pytest.mark.parametrize("token", TOKENS)
def test_each_of_the_tokens_opens(guarded: Web, scheme: str, token: str) -> None:
    answer = guarded.client.post(
        "/support/refund-chat",
        json=GOOD,
        environ_overrides={"HTTP_AUTHORIZATION": f"{scheme} {latin(token)}"},
    )

    assert answer.status_code == 200


@pytest.mark.contract("C83")
def test_all_tokens_are_one_portal_with_the_same_turns_and_the_same_idempotency_keys(guarded: Web) -> None:
    turn_id = "8e03978e-40d5-43dd-bc93-6894a57f9324"
    guarded.facade.found[turn_id] = TurnRecord(turn_id, "running", 0, 0)
    for token in TOKENS:
        guarded.client.post(
            "/support/refund-chat",
            json=GOOD,
            headers={"Idempotency-Key": "one-message"},
            environ_overrides={"HTTP_AUTHORIZATION": f"Bearer {latin(token)}"},
        )
        looked = guarded.client.get(
            f"/support/turns/{turn_id}", environ_overrides={"HTTP_AUTHORIZATION": f"Bearer {latin(token)}"}
        )
        assert looked.status_code == 200

    old, new = guarded.facade.asked
    assert (old.idempotency_key, old.fingerprint) == (new.idempotency_key, new.fingerprint) != ("", "")


@pytest.mark.fault(44)
@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Bearer " + TOKENS[0][:-1],
        "Bearer " + TOKENS[0] + "x",
        "Bearer " + TOKENS[0].upper(),
        "Bearer " + ",".join(TOKENS),
        "Basic " + TOKENS[0],
        TOKENS[0],
        "Bearer é\xff",
        "Bearer " + "x" * 10_000,
        "Token " + TOKENS[0],
    ],
)
def test_anything_else_is_401_before_a_byte_is_read(guarded: Web, given: str | None) -> None:
    overrides = {} if given is None else {"HTTP_AUTHORIZATION": given}
    answer = guarded.client.post(
        "/support/refund-chat", data="{", content_type="text/plain", environ_overrides=overrides
    )

    problem = problem_of(answer, 401)
    assert problem["refund"] is None
    assert problem["turn_id"] == answer.headers["X-Turn-Id"]
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert TOKENS[0] not in answer.text
    assert guarded.facade.asked == []


@pytest.mark.parametrize(
    "path", ["/support/refund-chat", "/support/", "/support/nothing", "/support/refund-chat/"]
)
def test_without_a_token_not_even_the_routes_are_told(guarded: Web, path: str) -> None:
    problem_of(guarded.client.get(path), 401)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"])
def test_the_other_routes_need_no_token(guarded: Web, path: str) -> None:
    assert guarded.client.get(path).status_code == 200


def test_development_without_tokens_is_open(web: Web) -> None:
    assert web.ask().status_code == 200


def test_production_without_tokens_is_closed_to_everybody(web: Web) -> None:
    web.set(app_env="production")
    answer = web.client.post("/support/refund-chat", json=GOOD, headers={"Authorization": "Bearer "})

    problem_of(answer, 401)
    assert web.facade.asked == []
