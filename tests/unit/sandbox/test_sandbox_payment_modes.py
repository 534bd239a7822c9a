"""What each payments mode does to the money, and what a client sees of it."""

import time
from collections import Counter

import pytest
import requests

from sandbox.http import serve
from sandbox.payment_modes import MODES
from sandbox.payments import Payments
from tests.unit.sandbox.payments_client import RECEIPT, REFUND, SHORT_SECONDS, PaymentsClient


@pytest.mark.parametrize("name", [name for name in MODES if name not in {"flaky", "huge", "gzip-bomb"}])
def test_money_moves_as_the_table_says(payments: Payments, client: PaymentsClient, name: str) -> None:
    payments.will(name)
    client.refund_anyhow()
    times = {"no": 0, "yes": 1, "twice": 2, "late": 1}[MODES[name].moves]
    assert payments.wait_for_requests(1)
    assert payments.wait_for_moved(times)
    assert payments.moved == [("A1", 500)] * times
    assert [request.mode for request in payments.requests] == [name]


@pytest.mark.parametrize("name", ["huge", "gzip-bomb"])
def test_an_endless_answer_starts_like_a_receipt(
    payments: Payments, client: PaymentsClient, name: str
) -> None:
    payments.will(name)
    with client.session.post(f"{client.url}/refunds", json=REFUND, stream=True, timeout=5) as response:
        start = next(response.iter_content(200_000))
    assert start.startswith(b'{"refund_id": "rf_000001"')
    assert payments.moved == [("A1", 500)]


STATUSES = {
    "ok-201": 201,
    "reject": 422,
    "reject-400": 400,
    "reject-429": 429,
    "404-html": 404,
    "408": 408,
    "409-moved": 409,
    "499": 499,
    "500": 500,
    "502-html": 502,
    "202": 202,
    "204": 204,
    "205": 205,
    "206": 206,
    "redirect-303": 303,
    "garbage-detail": 200,
    "continue-then-ok": 200,
}


@pytest.mark.parametrize("name", STATUSES)
def test_a_mode_answers_with_its_status(payments: Payments, client: PaymentsClient, name: str) -> None:
    payments.will(name)
    assert client.refund().status_code == STATUSES[name]


ERRORS: dict[str, type[Exception]] = {
    "hang": requests.ReadTimeout,
    "accept-then-hang": requests.ReadTimeout,
    "continue-then-nothing": requests.ReadTimeout,
    "accept-then-drop": requests.ConnectionError,
    "reset-on-accept": requests.ConnectionError,
    "reset-after-request": requests.ConnectionError,
    "cut-content-length": requests.exceptions.ChunkedEncodingError,
    "cut-chunked": requests.exceptions.ChunkedEncodingError,
    "two-content-lengths": requests.exceptions.InvalidHeader,
    "bad-gzip": requests.exceptions.ContentDecodingError,
    "garbage-html": requests.exceptions.JSONDecodeError,
    "garbage-empty": requests.exceptions.JSONDecodeError,
    "no-length-cut": requests.exceptions.JSONDecodeError,
    "garbage-bigint": ValueError,
    "garbage-deep": RecursionError,
}


@pytest.mark.parametrize("name", ERRORS)
def test_a_mode_fails_a_plain_client_in_its_own_way(
    payments: Payments, client: PaymentsClient, name: str
) -> None:
    payments.will(name)
    patience = SHORT_SECONDS if ERRORS[name] is requests.ReadTimeout else 5
    with pytest.raises(ERRORS[name]) as caught:
        client.refund(timeout_seconds=patience).json()
    assert caught.type is ERRORS[name]


def test_a_503_says_when_to_come_back(payments: Payments, client: PaymentsClient) -> None:
    payments.will("503")
    assert client.refund().headers["Retry-After"] == "1"


@pytest.mark.parametrize("name", ["drip-body", "drip-headers"])
def test_a_drip_outlives_the_clients_read_timeout(
    payments: Payments, client: PaymentsClient, name: str
) -> None:
    payments.pace.drip_seconds = 0.01
    payments.will(name)
    started = time.monotonic()
    assert client.refund(timeout_seconds=0.5).json() == RECEIPT
    assert time.monotonic() - started > 0.5


def test_late_money_moves_only_after_the_client_gave_up(payments: Payments, client: PaymentsClient) -> None:
    payments.will("accept-late")
    payments.pace.late_seconds = 0.5
    with pytest.raises(requests.ReadTimeout):
        client.refund(timeout_seconds=SHORT_SECONDS)
    assert payments.moved == []
    assert payments.wait_for_moved(1)


def test_stopping_keeps_late_money_from_moving(payments: Payments) -> None:
    payments.will("accept-late")
    payments.pace.late_seconds = 60
    with serve(payments) as server, requests.Session() as session:
        PaymentsClient(server.url, session).refund_anyhow()
    assert payments.moved == []


def test_a_second_request_on_a_stale_connection_is_accepted_and_dropped(
    payments: Payments, client: PaymentsClient
) -> None:
    payments.mode = "stale-keep-alive"
    assert client.refund().json() == RECEIPT
    with pytest.raises(requests.ConnectionError):
        client.refund()
    assert payments.moved == [("A1", 500)] * 2


def test_a_307_to_itself_that_is_followed_is_many_posts(payments: Payments, client: PaymentsClient) -> None:
    payments.mode = "redirect-307"
    with pytest.raises(requests.TooManyRedirects):
        client.refund(follow=True)
    assert payments.request_count == 31


def test_a_303_that_is_followed_looks_like_a_receipt(payments: Payments, client: PaymentsClient) -> None:
    payments.will("redirect-303")
    assert client.refund(follow=True).json() == RECEIPT
    assert (payments.request_count, payments.followed_redirects) == (1, 1)


def test_a_redirect_can_lead_to_another_host(payments: Payments, client: PaymentsClient) -> None:
    payments.pace.redirect_url = "http://elsewhere.invalid/refunds"
    payments.will("redirect-307-away")
    assert client.refund().headers["Location"] == "http://elsewhere.invalid/refunds"


def test_flaky_moves_money_exactly_as_its_request_log_says(
    payments: Payments, client: PaymentsClient
) -> None:
    payments.mode = "flaky"
    for _ in range(40):
        client.refund_anyhow()
    played = Counter(request.mode for request in payments.requests)
    assert set(played) == {"ok", "reset-before-work", "reset-after-request"}
    assert len(payments.moved) == played["ok"] + played["reset-after-request"]


def test_flaky_is_the_same_every_time(payments: Payments, client: PaymentsClient) -> None:
    runs: list[list[str]] = []
    payments.mode = "flaky"
    for _ in range(2):
        payments.reset()
        for _ in range(10):
            client.refund_anyhow()
        runs.append([request.mode for request in payments.requests])
    assert runs[0] == runs[1]
