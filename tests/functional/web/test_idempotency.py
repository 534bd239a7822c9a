"""The Idempotency-Key at the door: what is taken for one, and what the caller reads."""

import pytest
from werkzeug.test import TestResponse

from refund_agent.facade import Replayed, StillRunning
from refund_agent.outcomes import KeyReused, Replied
from refund_agent.turn import NewTurn, TurnRecord
from tests.functional.web.conftest import Web

BODY = {"user_id": "customer-17", "message": "Refund ORD-1001, please."}


def post(web: Web, key: str | None, **body: str) -> TestResponse:
    headers = {} if key is None else {"Idempotency-Key": key}
    return web.client.post("/support/refund-chat", json={**BODY, **body}, headers=headers)


@pytest.mark.parametrize("key", ['"a-key"', "8e03978e-40d5-43dd-bc93-6894a57f9324", '"with \\"quotes\\""'])
def test_a_quoted_string_or_a_plain_token_is_a_key(web: Web, key: str) -> None:
    assert post(web, key).status_code == 200
    assert len(web.facade.asked[0].idempotency_key) == 64


@pytest.mark.parametrize(
    "key", ["", '""', '"open', "two words", '"tab\t"', "k" * 256, '"' + "k" * 254 + '"', "caf\xe9", '"a" "b"']
)
def test_a_malformed_key_is_400_and_nothing_is_asked(web: Web, key: str) -> None:
    answer = post(web, key)
    assert answer.status_code == 400
    assert answer.json is not None
    assert answer.json["type"] == "urn:refund-agent:problem:malformed-key"
    assert web.facade.asked == []


def test_without_a_key_there_is_none(web: Web) -> None:
    post(web, None)
    assert web.facade.asked[0].idempotency_key == ""


def test_quotes_are_not_part_of_the_key(web: Web) -> None:
    post(web, '"same"')
    post(web, "same")
    assert web.facade.asked[0].idempotency_key == web.facade.asked[1].idempotency_key


def test_the_fingerprint_tells_bodies_apart(web: Web) -> None:
    post(web, "k")
    post(web, "k")
    post(web, "k", message="Refund ORD-1002, please.")
    first, same, other = (new.fingerprint for new in web.facade.asked)
    assert (first == same, first == other) == (True, False)


@pytest.mark.fault(27)
def test_a_replayed_answer_says_so_and_names_the_first_turn(web: Web) -> None:
    web.facade.answer = lambda _: Replayed(TurnRecord("turn-1", "ended", 0, 0, outcome=Replied("done")))
    answer = post(web, "k")
    assert (answer.status_code, answer.json) == (200, {"reply": "done"})
    assert answer.headers["Idempotent-Replayed"] == "true"
    assert answer.headers["X-Turn-Id"] == "turn-1"


@pytest.mark.fault(26)
def test_a_joined_turn_is_answered_under_its_own_id(web: Web) -> None:
    web.facade.answer = lambda _: TurnRecord("turn-1", "ended", 0, 0, outcome=Replied("done"))
    answer = post(web, "k")
    assert answer.headers["X-Turn-Id"] == "turn-1"
    assert "Idempotent-Replayed" not in answer.headers


@pytest.mark.fault(28)
def test_a_key_of_another_body_is_422(web: Web) -> None:
    web.facade.answer = lambda _: KeyReused()
    answer = post(web, "k")
    assert answer.status_code == 422
    assert answer.json is not None
    assert answer.json["type"] == "urn:refund-agent:problem:key-reused"
    assert answer.json["refund"] is None


@pytest.mark.parametrize(
    "preference",
    [
        "respond-async",
        "wait=10, Respond-Async",
        "respond-async, wait=10",
        "respond-async; x=1",
        'respond-async=""',
        'respond-async = "";x',
    ],
)
def test_respond_async_is_answered_202_with_the_turns_location(web: Web, preference: str) -> None:
    answer = web.client.post("/support/refund-chat", json=BODY, headers={"Prefer": preference})
    new: NewTurn = web.facade.asked[0]
    assert (answer.status_code, answer.json) == (202, {"turn_id": new.id})
    assert answer.headers["Location"] == f"/support/turns/{new.id}"
    assert answer.headers["Preference-Applied"] == "respond-async"


@pytest.mark.parametrize(
    "preference", ["", "wait=10", 'foo="a, respond-async, b"', "respond-async=no", 'foo="']
)
def test_who_does_not_ask_for_a_202_waits_for_the_reply(web: Web, preference: str) -> None:
    answer = web.client.post("/support/refund-chat", json=BODY, headers={"Prefer": preference})
    assert answer.status_code == 200
    assert "Preference-Applied" not in answer.headers


def test_a_turn_that_outlives_this_process_is_504_and_the_key_finds_it_again(web: Web) -> None:
    web.facade.answer = lambda _: StillRunning("turn-1")
    answer = post(web, "k")
    assert (answer.status_code, answer.headers["X-Turn-Id"]) == (504, "turn-1")
    assert answer.get_json()["refund"] == {"state": "unknown"}
    assert "Retry-After" in answer.headers
