"""Amounts are read and written exactly, or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refund_agent.money import NotAnAmount, read_cents, write_cents


@given(st.integers(0, 10**15 - 1))
def test_what_is_written_reads_back_to_the_cent(cents: int) -> None:
    assert read_cents(write_cents(cents)) == cents


@pytest.mark.parametrize(("text", "cents"), [("12", 1200), ("12.34", 1234), ("0.05", 5), ("0.29", 29)])
def test_an_amount_is_exact(text: str, cents: int) -> None:
    assert read_cents(text) == cents


@pytest.mark.parametrize(
    "text",
    ["", "12.3", "12.345", "-1", "+1", "1e3", "1_000", "1,000.00", " 1", "1\n", "٣", "1.", ".5", "NaN"],
)
def test_any_other_form_is_refused(text: str) -> None:
    with pytest.raises(NotAnAmount):
        read_cents(text)


def test_a_currency_stands_behind() -> None:
    assert write_cents(50_000, "EUR") == "500.00 EUR"
    assert write_cents(-5) == "-0.05"
