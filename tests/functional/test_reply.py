"""What comes back at the door: the reply and nothing else, and the turn's id everywhere."""

from collections.abc import Callable

import pytest
import requests

from sandbox.model import Model, says
from sandbox.payments import Payments
from tests.functional.stand import Row, Stand, problem, turn_id

Chat = Callable[..., requests.Response]
Ledger = Callable[[str], Row | None]


@pytest.mark.contract("C1", "C3", "C13")
def test_a_final_text_is_answered_with_the_reply_and_nothing_else(
    chat: Chat, model: Model, payments: Payments, ledger: Ledger
) -> None:
    model.will(says("Your order is on its way."))

    answer = chat("Where is my order?")

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json() == {"reply": "Your order is on its way."}
    assert (payments.request_count, payments.moved) == (0, [])
    assert ledger(turn_id(answer)) is None


@pytest.mark.contract("C1", "C13", "C34", "C65")
def test_one_post_refunds_once_and_brings_the_turns_ending(
    chat: Chat, payments: Payments, ledger: Ledger
) -> None:
    answer = chat("refund 49.99 for order ORD-1001")

    assert answer.status_code == 200
    assert answer.json().keys() == {"reply"}
    assert payments.moved == [("ORD-1001", 4999)]
    row = ledger(turn_id(answer))
    assert row is not None
    assert (row["state"], row["order_id"], row["amount_cents"]) == ("paid", "ORD-1001", 4999)
    assert row["refund_id"] == payments.refunds[0].refund_id


@pytest.mark.contract("C14")
@pytest.mark.parametrize("script", ["empty-text", "null-text"])
@pytest.mark.fault(131)
def test_a_final_completion_without_text_is_answered_with_the_empty_string(
    chat: Chat, payments: Payments, script: str
) -> None:
    answer = chat(f"[{script}] hello")

    assert (answer.status_code, answer.json()) == (200, {"reply": ""})
    assert payments.request_count == 0


@pytest.mark.contract("C14")
def test_the_empty_reply_after_a_refund_is_still_the_reply(
    chat: Chat, model: Model, payments: Payments, ledger: Ledger
) -> None:
    model.will("plain", says(""))

    answer = chat("refund 5.00 for order A1")

    assert (answer.status_code, answer.json()) == (200, {"reply": ""})
    assert payments.moved == [("A1", 500)]
    row = ledger(turn_id(answer))
    assert row is not None
    assert row["state"] == "paid"


@pytest.mark.contract("C77")
@pytest.mark.fault(132)
def test_a_refusal_without_content_is_answered_with_the_empty_string(chat: Chat) -> None:
    answer = chat("[refusal] hello")

    assert (answer.status_code, answer.json()) == (200, {"reply": ""})


@pytest.mark.contract("C15")
def test_the_turns_id_is_in_the_header_of_a_reply(stand: Stand) -> None:
    answer = stand.chat("hello")

    stored = stand.turn(turn_id(answer))
    assert stored is not None
    assert (stored["state"], stored["outcome"]) == ("ended", "replied")


@pytest.mark.contract("C12", "C15", "C16")
def test_the_turns_id_is_in_every_problem(stand: Stand) -> None:
    failed = problem(stand.chat("[http-500] hello"), 502)
    refused = problem(stand.chat(""), 422)
    unknown = problem(stand.chat("hello", headers={"Authorization": "Bearer wrong"}), 401)

    assert stand.turn(failed["turn_id"]) is not None
    assert stand.turn(refused["turn_id"]) is None
    assert stand.turn(unknown["turn_id"]) is None


@pytest.mark.contract("C4", "C5", "C6", "C7", "C8", "C9", "C10", "C11", "C12", "C79", "C80")
@pytest.mark.fault(1, 3, 12, 15, 16, 20)
@pytest.mark.parametrize(
    ("status", "content_type", "body"),
    [
        (400, "application/json", b'{"user_id": "u"'),
        (415, "text/plain", b'{"user_id": "u", "message": "hello"}'),
        (413, "application/json", b'{"user_id": "u", "message": "%s"}' % (b"x" * 70_000)),
        (422, "application/json", b"[]"),
        (422, "application/json", b'{"message": "hello"}'),
        (422, "application/json", b'{"user_id": "", "message": "hello"}'),
        (422, "application/json", b'{"user_id": "u", "message": ""}'),
        (422, "application/json", b'{"user_id": "u", "message": "%s"}' % (b"x" * 4001)),
        (422, "application/json", b'{"user_id": "u", "message": "hello", "amount": 1}'),
        (422, "application/json", b'{"user_id": "u", "message": " \\t "}'),
        (422, "application/json", b'{"user_id": "  ", "message": "hello"}'),
        (422, "application/json", b'{"user_id": "u", "message": "\\ud800"}'),
        (422, "application/json", b'{"user_id": "u\\u0000", "message": "hello"}'),
    ],
    ids=lambda value: repr(value[:40]) if isinstance(value, bytes) else str(value),
)
def test_a_bad_body_is_a_problem_and_nothing_is_stored_sent_or_moved(
    stand: Stand, status: int, content_type: str, body: bytes
) -> None:
    problem(stand.send(body, content_type), status)

    assert stand.turns() == []
    assert stand.model.request_count == 0
    assert stand.payments.request_count == 0


@pytest.mark.contract("C6")
@pytest.mark.fault(15)
@pytest.mark.parametrize("character", ["x", "\N{MONEY BAG}"])
def test_a_message_of_exactly_4000_code_points_is_answered(chat: Chat, model: Model, character: str) -> None:
    model.will(says("Noted."))

    answer = chat(character * 4000)

    assert answer.json() == {"reply": "Noted."}
    assert model.requests[0].body["messages"][-1] == {"role": "user", "content": character * 4000}
