"""What an answer means, read without a network: the neighbours of what the stand-in plays."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refund_agent.adapters.payment_answer import (
    MAX_BODY_BYTES,
    MAX_REFUND_ID_LENGTH,
    HttpAnswer,
    read_answer,
)
from refund_agent.outcomes import Paid, PaymentAnswer, Rejected, Unknown

fault = pytest.mark.fault


def read(status: int, body: object, **more: str) -> PaymentAnswer:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read_answer(HttpAnswer(status, raw, **more), amount_cents=500, secret="tok-1")


def receipt(**changes: object) -> dict[str, object]:
    return {"refund_id": "rf_1", "status": "succeeded", "amount_cents": 500} | changes


@pytest.mark.parametrize(
    "status",
    ["succeeded", "pending", "PROCESSING", "refunded", "accepted", "in_progress", "notified", "created", ""],
)
def test_any_status_that_does_not_say_failed_is_a_receipt(status: str) -> None:
    assert read(200, receipt(status=status)) == Paid("rf_1", status, 500)


@fault(226)
@pytest.mark.parametrize(
    "status",
    [
        "failed", "FAILED", "Failure", "refund_failed", "refundFailed", "payment-declined", "canceled",
        "cancelled", "rejected", "refused", "denied", "error", "voided", "expired", "aborted", "reversed",
        "returned", "unsuccessful", "not_refunded", "notRefunded", "NOT REFUNDED", "ko", "blocked",
    ],
)  # fmt: skip
def test_any_status_that_says_failed_is_kept_for_review(status: str) -> None:
    answer = read(201, receipt(status=status))

    assert isinstance(answer, Unknown)
    assert answer.review


@fault("4.0:mismatch")
@pytest.mark.parametrize(
    "body",
    [
        receipt(amount_cents=-500),
        receipt(amount_cents="500"),
        receipt(amount_cents=[500]),
        receipt(amount_cents=500.0),
        receipt(refund_id="   "),
        receipt(refund_id="rf\x00"),
        receipt(refund_id="\ud800"),
        receipt(refund_id="rf\u202e1"),
        receipt(refund_id="x" * (MAX_REFUND_ID_LENGTH + 1)),
        receipt(status=None),
        receipt(status=["succeeded"]),
        receipt(status="x" * 101),
        receipt(status="ok\n\x1b[31m"),
        [receipt()],
        b"\xef\xbb\xbf" + json.dumps(receipt()).encode(),
        json.dumps(receipt()).encode("utf-16"),
        json.dumps(receipt()).encode() * 2,
        json.dumps(receipt()).encode() + b"}",
        b'{"refund_id": "rf_1", "status": "ok", "amount_cents": 499, "amount_cents": 500}',
        b'{"refund_id": "rf_1", "status": "ok", "amount_cents": 5e2}',
    ],
    ids=repr,
)
def test_a_success_that_is_not_a_matching_receipt_is_kept_for_review(body: object) -> None:
    answer = read(200, body)

    assert isinstance(answer, Unknown)
    assert answer.review
    assert "rf" not in answer.reason


def test_what_else_a_receipt_says_does_not_matter() -> None:
    assert read(200, receipt(currency="EUR", detail=None)) == Paid("rf_1", "succeeded", 500)


@fault(208, 209, 213)
@pytest.mark.parametrize("flaw", [{"cut": "body broken off"}, {"content_encoding": "br"}])
@pytest.mark.parametrize("status", [200, 422, 429])
def test_nothing_is_read_from_a_body_that_is_cut_or_encoded(status: int, flaw: dict[str, str]) -> None:
    answer = read(status, receipt(detail="no such order"), **flaw)

    assert isinstance(answer, Unknown)
    assert answer.review == (status == 200)


@pytest.mark.parametrize("encoding", ["", "identity", "Identity", " identity "])
def test_identity_is_no_encoding(encoding: str) -> None:
    assert isinstance(read(200, receipt(), content_encoding=encoding), Paid)


@fault("4.0:rejected-not-json")
@pytest.mark.parametrize(
    "body", [{}, {"detail": None}, {"detail": 7}, {"detail": True}, {"message": "Forbidden"}, []]
)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_that_is_not_payments_own_means_unknown(status: int, body: object) -> None:
    assert isinstance(read(status, body), Unknown)


@fault("4.0:rejected")
@pytest.mark.parametrize("detail", ["", " \n", "\x00", []])
def test_a_refusal_without_words_still_has_some(detail: object) -> None:
    answer = read(422, {"detail": detail})

    assert isinstance(answer, Rejected)
    assert answer.detail


@fault("4.0:other-2xx", "4.0:redirect", "4.0:5xx")
@given(st.integers(100, 599).filter(lambda status: status not in {200, 201, 425, 429}))
def test_no_other_status_makes_a_receipt_paid_or_a_receipt_rejected(status: int) -> None:
    answer = read(status, receipt())

    assert isinstance(answer, Unknown)
    assert not answer.review


@given(
    st.integers(100, 999), st.binary() | st.from_type(type).map(repr).map(str.encode), st.text(max_size=20)
)
def test_no_bytes_break_the_reading(status: int, body: bytes, encoding: str) -> None:
    answer = read(status, body, content_encoding=encoding)

    assert isinstance(answer, Unknown) or status in {425, 429}


def test_evidence_is_the_start_of_the_answer_without_what_no_database_takes() -> None:
    answer = read(200, b"\x00\xff tok-1 \xe2\x82" + b"x" * MAX_BODY_BYTES)

    assert isinstance(answer, Unknown)
    assert answer.evidence.startswith("\ufffd\ufffd [hidden] \ufffdxxx")
    assert len(answer.evidence) <= 4096 + len("[hidden]")
