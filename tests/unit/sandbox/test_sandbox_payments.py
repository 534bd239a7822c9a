"""The payments stand-in: a ledger that a test can trust."""

import threading

import pytest
import requests

from sandbox.payments import Payments
from tests.unit.sandbox.payments_client import RECEIPT, REFUND, PaymentsClient


def test_an_accepted_call_moves_money_and_gives_a_receipt(payments: Payments, client: PaymentsClient) -> None:
    response = client.refund()
    assert (response.status_code, response.json()) == (200, RECEIPT)
    assert payments.moved == [("A1", 500)]


def test_every_accepted_call_is_a_new_refund(payments: Payments, client: PaymentsClient) -> None:
    references = {client.refund().json()["refund_id"] for _ in range(3)}
    assert payments.moved == [("A1", 500)] * 3
    assert len(references) == 3


def test_the_next_requests_take_the_queued_modes_and_then_the_usual_one(
    payments: Payments, client: PaymentsClient
) -> None:
    payments.mode = "reject"
    payments.will("ok", "500")
    assert [client.refund().status_code for _ in range(3)] == [200, 500, 422]


def test_a_mode_that_does_not_exist_is_an_error_at_once(payments: Payments) -> None:
    with pytest.raises(KeyError):
        payments.will("no-such-mode")
    with pytest.raises(KeyError):
        payments.mode = "no-such-mode"


WRONG_REQUESTS: tuple[object, ...] = (
    None,
    [],
    {},
    {"order_id": "A1"},
    REFUND | {"order_id": ""},
    REFUND | {"amount_cents": 0},
    REFUND | {"amount_cents": True},
    REFUND | {"amount_cents": 5.0},
    REFUND | {"currency": "EUR"},
)


@pytest.mark.parametrize("body", WRONG_REQUESTS)
def test_a_wrong_request_is_refused_and_moves_nothing(
    payments: Payments, client: PaymentsClient, body: object
) -> None:
    assert client.refund(body).status_code == 422
    assert payments.moved == []
    assert payments.request_count == 1


def test_headers_and_bodies_are_kept_for_the_test_to_look_at(
    payments: Payments, client: PaymentsClient
) -> None:
    client.session.headers["Authorization"] = "Bearer t"
    client.refund()
    request = payments.requests[0]
    assert (request.headers["authorization"], request.body) == ("Bearer t", REFUND)
    assert request.raw == b'{"order_id": "A1", "amount_cents": 500}'


def test_a_delay_holds_the_answer_and_not_the_money(payments: Payments, client: PaymentsClient) -> None:
    payments.delay_seconds = 30
    with pytest.raises(requests.ReadTimeout):
        client.refund(timeout_seconds=0.1)
    assert payments.moved == [("A1", 500)]


def test_the_ledger_is_complete_under_concurrent_calls(payments: Payments, client: PaymentsClient) -> None:
    def refund(order_id: str) -> None:
        with requests.Session() as session:
            PaymentsClient(client.url, session).refund(REFUND | {"order_id": order_id}, timeout_seconds=10)

    orders = [f"A{i:02d}" for i in range(20)]
    threads = [threading.Thread(target=refund, args=(order_id,)) for order_id in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(payments.moved) == [(order_id, 500) for order_id in orders]
    assert len({refund.refund_id for refund in payments.refunds}) == 20
