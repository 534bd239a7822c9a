"""Payments over HTTP: one request whatever comes back, and an honest word about what it means."""

import json
from collections import Counter

import pytest
from structlog.testing import capture_logs

from refund_agent.adapters.http_payments import HttpPayments
from refund_agent.outcomes import Paid, Rejected, Unknown
from sandbox.payment_modes import MODES
from sandbox.payments import Payments
from tests.unit.adapters.conftest import TOKEN

fault = pytest.mark.fault
contract = pytest.mark.contract


def moved_once(payments: Payments, mode: str) -> bool:
    """Whether exactly one request arrived, none was redirected, and money moved as the mode says."""
    expected = {"no": [], "yes": [("A1", 500)]}[MODES[mode].moves]
    return (payments.request_count, payments.followed_redirects, payments.moved) == (1, 0, expected)


def rows(modes: str, *covered: int | str) -> list[object]:
    return [pytest.param(mode, marks=fault(*covered), id=mode) for mode in modes.split()]


# --- The request ----------------------------------------------------------------------------------


@contract("C62")
def test_a_refund_is_one_post_of_exactly_two_fields(client: HttpPayments, payments: Payments) -> None:
    client.refund("Ä/../1?x=%2e#☂", 500, send_within_seconds=5.0)

    (request,) = payments.requests
    assert request.body == {"order_id": "Ä/../1?x=%2e#☂", "amount_cents": 500}
    assert payments.moved == [("Ä/../1?x=%2e#☂", 500)]


@contract("C63")
@fault(202, 212)
def test_the_request_asks_for_plain_json_on_a_connection_of_its_own(
    client: HttpPayments, payments: Payments
) -> None:
    payments.mode = "stale-keep-alive"

    endings = [
        client.refund("A1", 500, send_within_seconds=5.0),
        client.refund("A2", 500, send_within_seconds=5.0),
    ]

    assert all(isinstance(ending, Paid) for ending in endings)
    for request in payments.requests:
        assert request.headers["content-type"] == request.headers["accept"] == "application/json"
        assert request.headers["accept-encoding"] == "identity"
        assert request.headers["connection"] == "close"
        assert request.headers["authorization"] == f"Bearer {TOKEN}"
        assert "cookie" not in request.headers


def test_without_a_token_no_authorization_is_sent(payments_url: str, payments: Payments) -> None:
    assert isinstance(
        HttpPayments(f"{payments_url}/", "", 5.0).refund("A1", 500, send_within_seconds=5.0), Paid
    )

    assert "authorization" not in payments.requests[0].headers


@fault(242, 70)
@pytest.mark.usefixtures("hostile_environment")
def test_proxies_passwords_and_bundles_of_the_environment_are_ignored(
    payments_url: str, payments: Payments
) -> None:
    assert isinstance(HttpPayments(payments_url, TOKEN, 5.0).refund("A1", 500, send_within_seconds=5.0), Paid)
    assert isinstance(HttpPayments(payments_url, "", 5.0).refund("A1", 500, send_within_seconds=5.0), Paid)

    sent = [request.headers.get("authorization") for request in payments.requests]
    assert sent == [f"Bearer {TOKEN}", None]


# --- Paid -----------------------------------------------------------------------------------------

RECEIPTS = [
    *rows("ok", "4.0:receipt"),
    *rows("ok-201", 230, "4.0:receipt"),
    *rows("pending processing", "4.0:pending"),
    *rows("continue-then-ok", 215),
]


@contract("C65")
@pytest.mark.parametrize("mode", RECEIPTS)
def test_a_matching_receipt_means_paid(client: HttpPayments, payments: Payments, mode: str) -> None:
    payments.mode = mode

    answer = client.refund("A1", 500, send_within_seconds=5.0)

    status = mode if mode in {"pending", "processing"} else "succeeded"
    assert answer == Paid("rf_000001", status, 500)
    assert moved_once(payments, mode)


# --- Rejected -------------------------------------------------------------------------------------

REFUSALS = [
    *rows("reject reject-400 reject-404 reject-422", 232, "4.0:rejected"),
    *rows("reject-405 reject-413 reject-414 reject-415 detail-list", "4.0:rejected"),
]


@contract("C66", "C67")
@pytest.mark.parametrize("mode", REFUSALS)
def test_a_refusal_with_its_reason_means_rejected(
    client: HttpPayments, payments: Payments, mode: str
) -> None:
    payments.mode = mode

    answer = client.refund("A1", 500, send_within_seconds=5.0)

    assert isinstance(answer, Rejected)
    assert answer.detail
    assert moved_once(payments, mode)


@pytest.mark.parametrize("mode", rows("reject-401 reject-403", 236, "4.0:rejected"))
def test_being_locked_out_is_told_as_unavailable_and_alarms(
    client: HttpPayments, payments: Payments, mode: str
) -> None:
    payments.mode = mode

    with capture_logs() as logs:
        answer = client.refund("A1", 500, send_within_seconds=5.0)

    assert answer == Rejected("payments is unavailable")
    assert {"event": "payments_locked_us_out", "status": int(mode[-3:]), "log_level": "error"} in logs
    assert TOKEN not in json.dumps(logs)
    assert moved_once(payments, mode)


@pytest.mark.parametrize("mode", rows("reject-425 reject-429 425-html 429-html", "4.0:busy"))
def test_busy_means_rejected_and_is_not_asked_again(
    client: HttpPayments, payments: Payments, mode: str
) -> None:
    payments.mode = mode

    assert client.refund("A1", 500, send_within_seconds=5.0) == Rejected("payments is busy, not refunded")
    assert moved_once(payments, mode)


# --- Unknown --------------------------------------------------------------------------------------

DOUBTS = [
    *rows("400-html 401-html 403-html 404-html 405-html", "4.0:rejected-not-json"),
    *rows("413-html 414-html 415-html 422-html detail-missing", "4.0:rejected-not-json"),
    *rows("408 408-moved 408-html 409 409-moved 409-html", 237, "4.0:ambiguous-4xx"),
    *rows("499 499-moved 499-html", "4.0:ambiguous-4xx"),
    *rows("500 500-moved 500-html 502 502-moved 502-html", 239, "4.0:5xx"),
    *rows("503 503-moved 503-html 504 504-moved 504-html", 239, "4.0:5xx"),
    *rows("202 204 206 202-receipt", 231, "4.0:other-2xx"),
    *rows("205", "4.0:other-2xx"),
    *rows("redirect-301 redirect-302 redirect-303", "4.0:redirect"),
    *rows("redirect-307 redirect-308", 217, "4.0:redirect"),
    *rows("reset-on-accept", 199, "4.0:answer-lost"),
    *rows("reset-after-request reset-before-work", 200, "4.0:answer-lost"),
    *rows("accept-then-drop", "4.0:answer-lost"),
    *rows("two-content-lengths", "4.0:answer-lost"),
]


@contract("C68")
@pytest.mark.parametrize("mode", DOUBTS)
def test_an_answer_that_decides_nothing_means_unknown(
    client: HttpPayments, payments: Payments, mode: str
) -> None:
    payments.mode = mode

    answer = client.refund("A1", 500, send_within_seconds=5.0)

    assert isinstance(answer, Unknown)
    assert not answer.review
    assert moved_once(payments, mode)


MISMATCHES = [
    *rows("amount-other", 224, 286, "4.0:mismatch"),
    *rows("amount-string amount-float amount-true amount-missing", 224, "4.0:mismatch"),
    *rows("refund-id-missing refund-id-empty refund-id-null", 225, "4.0:mismatch"),
    *rows("refund-id-number refund-id-10kB", 225, "4.0:mismatch"),
    *rows("status-failed status-cancelled status-declined", 226, "4.0:mismatch"),
    *rows("status-missing status-number", "4.0:mismatch"),
    *rows("garbage-html garbage-empty garbage-null garbage-list garbage-string", 220, "4.0:mismatch"),
    *rows("garbage-deep garbage-bigint", 222, "4.0:mismatch"),
    *rows("garbage-nan garbage-latin-1", "4.0:mismatch"),
    *rows("garbage-detail", 227),
    *rows("cut-content-length", 208, "4.0:mismatch"),
    *rows("cut-chunked", 209, "4.0:mismatch"),
    *rows("no-length-cut", "4.0:mismatch"),
    *rows("huge gzip-bomb", 212, "4.0:mismatch"),
    *rows("bad-gzip unknown-encoding", 213),
]


@pytest.mark.parametrize("mode", MISMATCHES)
def test_a_success_that_does_not_match_is_kept_for_review(
    client: HttpPayments, payments: Payments, mode: str
) -> None:
    payments.mode = mode

    answer = client.refund("A1", 500, send_within_seconds=5.0)

    assert isinstance(answer, Unknown)
    assert answer.review
    assert answer.evidence or mode == "garbage-empty"
    assert len(answer.evidence) <= 4096
    assert "501" not in answer.reason
    assert "500" not in answer.reason
    assert moved_once(payments, mode)


@fault(245)
def test_with_resets_by_chance_every_ending_agrees_with_the_money(
    client: HttpPayments, payments: Payments
) -> None:
    payments.mode = "flaky"

    endings = {f"A{n}": client.refund(f"A{n}", 500, send_within_seconds=5.0) for n in range(60)}

    paid = {order for order, ending in endings.items() if isinstance(ending, Paid)}
    answered = [r.body["order_id"] for r in payments.requests if r.mode == "ok"]
    assert paid == set(answered)
    assert Counter(type(ending) for ending in endings.values()).keys() == {Paid, Unknown}
    assert payments.request_count == len(endings)
