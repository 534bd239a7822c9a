"""A refusal's detail, made fit for a model and a customer to read."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refund_agent.adapters.clean_text import INTERNAL_ERROR, MAX_DETAIL_LENGTH, NO_DETAIL, clean_detail
from refund_agent.adapters.http_payments import HttpPayments
from refund_agent.outcomes import Rejected
from sandbox.payment_modes import PLANTED_SECRET, PLANTED_TRACE
from sandbox.payments import Payments

fault = pytest.mark.fault

TOKEN = "tok/own+secret"


@pytest.mark.parametrize(
    "detail",
    [
        "amount exceeds what was paid",
        "Order ORD-1001 was refunded on 2024-07-18 (rf_000123).",
        "order 3fa85f64-5717-4562-b3fc-2c963f66afa6 is not refundable: 49.99 > 20.00",
        "Bestellung nicht gefunden — «Größe» ☂",
        "the token bucket is empty",
    ],
)
def test_a_plain_reason_is_told_as_it_stands(detail: str) -> None:
    assert clean_detail(detail, secret=TOKEN) == detail


SECRETS = {
    "Authorization: Bearer abc.def-ghi": "abc.def-ghi",
    "bearer ABCDEF": "ABCDEF",
    "Basic dXNlcjpwYXNz was refused": "dXNlcjpwYXNz",
    "key sk-live-0123456789abcdef": "sk-live",
    "key sk_test_4eC39HqLyjWDarjtT1zdp7dc": "4eC39",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a": "16C7e42",
    "AKIAIOSFODNN7EXAMPLE": "AKIA",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln": "eyJ",
    "postgres://app:hunter2@db/prod is down": "hunter2",
    "password=hunter2": "hunter2",
    '{"api_key": "hunter2"}': "hunter2",
    "client-secret: hunter2": "hunter2",
    "card 4111 1111 1111 1111 expired": "1111",
    "card 4111111111111111": "4111",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----": "MIIEvQ",
    f"unknown caller {TOKEN}": TOKEN,
    "seen 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08": "9f86d081",
}


@fault(235)
@pytest.mark.parametrize(("detail", "secret"), SECRETS.items(), ids=SECRETS.values())
def test_a_secret_in_a_reason_is_hidden(detail: str, secret: str) -> None:
    shown = clean_detail(detail, secret=TOKEN)

    assert secret not in shown
    assert "[hidden]" in shown


TRACES = [
    PLANTED_TRACE,
    'File "/srv/app.py", line 12, in refund',
    "java.lang.NullPointerException\n\tat com.shop.Refunds.pay(Refunds.java:31)",
    "TypeError: x\n    at Object.<anonymous> (/srv/app.js:10:7)",
    "   at Shop.Refunds.Pay(Int32 cents) in C:\\src\\Refunds.cs:line 31",
    "panic: nil\n\ngoroutine 1 [running]:",
    "Stack trace:\n#0 /var/www/app.php(12): refund()",
    "/srv/app.rb:12:in `refund'",
    'Exception in thread "main"',
]


@fault(235)
@pytest.mark.parametrize("detail", TRACES, ids=range(len(TRACES)))
def test_a_stack_trace_is_not_told_at_all(detail: str) -> None:
    assert clean_detail(detail, secret=TOKEN) == INTERNAL_ERROR
    assert clean_detail(detail.replace("\n", " "), secret=TOKEN) == INTERNAL_ERROR


def test_a_secret_is_not_shown_by_halves_at_any_cut() -> None:
    for before in range(3980, 4010):
        shown = clean_detail("card " * (before // 5) + "x" * (before % 5) + " sk-0123456789", secret="")
        assert "sk-" not in shown


@given(st.text() | st.lists(st.text()) | st.dictionaries(st.text(), st.text()))
def test_what_is_told_is_one_short_line(detail: str | list[object] | dict[str, object]) -> None:
    shown = clean_detail(detail, secret=TOKEN)

    assert 0 < len(shown) <= MAX_DETAIL_LENGTH
    assert not any(unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for character in shown)


def test_an_empty_reason_says_so() -> None:
    assert clean_detail(" \u200b\n", secret=TOKEN) == NO_DETAIL


@fault(235, "4.0:rejected")
@pytest.mark.parametrize("mode", ["detail-secret", "detail-trace", "detail-10kB", "detail-control"])
def test_a_refusal_over_http_is_cleaned(client: HttpPayments, payments: Payments, mode: str) -> None:
    payments.mode = mode

    answer = client.refund("A1", 500, send_within_seconds=5.0)

    assert isinstance(answer, Rejected)
    assert len(answer.detail) <= MAX_DETAIL_LENGTH
    assert not re.search(r"[\x00-\x1f\u202e]|4111|hunter2|sk-live|Traceback|app\.py", answer.detail)
    assert "4111" in PLANTED_SECRET
    assert payments.request_count == 1
