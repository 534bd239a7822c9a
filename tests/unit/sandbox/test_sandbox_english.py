"""How plain English becomes an order and an amount: exactly, and never by guessing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.english import UNSURE, report, understand

UNDERSTOOD = {
    "refund 49.99 for order ORD-1001": ("ORD-1001", 4999),
    "$49.99 refund ORD-1001": ("ORD-1001", 4999),
    "refund 4999 cents, order ORD-1001": ("ORD-1001", 4999),
    "order ORD-1001 49,99 EUR": ("ORD-1001", 4999),
    "refund my order A1, 5 dollars": ("A1", 500),
    "Refund $1,234.56 for order #1001.": ("1001", 123456),
    "1.234,56 EUR order A1": ("A1", 123456),
    "EUR50 for order A1": ("A1", 5000),
    "refund 20 for order A1": ("A1", 2000),
    "refund 5.5 order A1": ("A1", 550),
    "refund 0.29 for order B-2!": ("B-2", 29),
    "I paid $100, refund $20 for ORD-7": ("ORD-7", 2000),
    "please refund 10.00 for order A1 and 20.00 for order A2": ("A1", 1000),
    'refund 5.00 for order "../x y"': ("../x y", 500),
    "refund 5.00 for order ord-1": ("ord-1", 500),
}


@pytest.mark.parametrize("text", UNDERSTOOD)
def test_an_order_and_an_amount_are_read(text: str) -> None:
    wish = understand([text])
    assert (wish.order_id, wish.amount_cents) == UNDERSTOOD[text]
    assert wish.wants_refund


NOT_GUESSED = (
    "refund order A1",
    "refund 2 items from order A1",
    "refund 10% of order A1",
    "refund -5.00 for order A1",
    "refund -$5 for order A1",
    "refund 49.999 for order A1",
    "refund 1.234 EUR for order A1",
    "refund 49.9999 for order A1",
    "refund 0.00 for order A1",
    "refund 5.5 cents for order A1",
    f"refund {'9' * 5000} for order A1",
)


@pytest.mark.parametrize("text", NOT_GUESSED)
def test_an_amount_that_is_unclear_is_not_guessed(text: str) -> None:
    wish = understand([text])
    assert (wish.order_id, wish.amount_cents) == ("A1", None)


@pytest.mark.parametrize("text", ["my order has not come, refund 5.00", "refund $5 of my order"])
def test_an_order_that_is_not_named_is_not_guessed(text: str) -> None:
    assert understand([text]).order_id is None


@given(st.integers(min_value=1, max_value=99_999_999))
def test_cents_are_exact(cents: int) -> None:
    amount = f"{cents // 100}.{cents % 100:02d}"
    assert understand([f"refund {amount} for order ORD-1001"]).amount_cents == cents
    assert understand([f"refund {cents} cents for order ORD-1001"]).amount_cents == cents


@given(st.text(max_size=200))
def test_no_text_breaks_it(text: str) -> None:
    wish = understand([text])
    assert wish.amount_cents is None or wish.amount_cents > 0
    assert wish.order_id != ""


def test_what_the_newest_message_leaves_out_an_earlier_one_may_say() -> None:
    wish = understand(["it is order A1", "refund 5.00 please"])
    assert (wish.order_id, wish.amount_cents) == ("A1", 500)


def test_a_receipt_is_confirmed_with_its_amount_and_reference() -> None:
    text = report([{"refund_id": "rf_1", "status": "succeeded", "amount_cents": 4999}, {"error": "refused"}])
    assert "49.99" in text
    assert "rf_1" in text


def test_a_pending_receipt_is_on_its_way() -> None:
    assert "on its way" in report([{"refund_id": "rf_1", "status": "pending", "amount_cents": 1}])


def test_an_unknown_outcome_is_not_called_a_success_or_a_failure() -> None:
    text = report([{"error": "outcome unknown: no clear answer came back"}])
    assert text == UNSURE
    assert "not sure" in text


def test_a_refusal_is_told_as_it_is() -> None:
    assert "amount exceeds" in report([{"error": "payments rejected the refund: amount exceeds"}])


def test_a_result_without_sense_is_not_called_a_success() -> None:
    assert "refund of" not in report(["null", None, 5])
