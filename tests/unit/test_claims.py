"""Which figures of a sentence are amounts of money, and how much they are."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refund_agent.claims import amounts_cents
from refund_agent.money import MAX_CENTS, write_cents

READ: list[tuple[str, set[int]]] = [
    # English
    ("I have refunded 500 EUR.", {50_000}),
    ("I have refunded 49.99 to you.", {4_999}),
    ("Your refund of $1,234.50 was sent.", {123_450}),
    ("Your refund of $1,234 was sent.", {123_400}),
    ("Your refund of US$ 1,234,567.89 was sent.", {123_456_789}),
    ("£50 has been credited.", {5_000}),
    ("EUR49.99 has been credited.", {4_999}),
    ("EUR 49.9 has been credited.", {4_990}),
    ("I refunded 500 dollars and 20 euros.", {50_000, 2_000}),
    ("A 500-dollar refund was issued.", {50_000}),
    ("I refunded 500 eur 3 days ago.", {50_000}),
    ("I refunded 500 EUR (not 50 EUR).", {50_000, 5_000}),
    ("I refunded ...500 EUR.", {50_000}),
    ("₹1,23,456.78 was refunded.", {12_345_678}),
    ("I refunded 49.99.", {4_999}),
    ("You were refunded €500!", {50_000}),
    ("You were refunded EUR 500-600.", {50_000}),
    # German
    ("Ich habe 500 € erstattet.", {50_000}),
    ("Ich habe 500€ erstattet.", {50_000}),
    ("Es wurden 1.234,50 € erstattet.", {123_450}),
    ("Es wurden 1.234 Euro erstattet.", {123_400}),
    ("Es wurden 1'234.50 Franken erstattet.", {123_450}),
    ("Es wurden CHF 1\u2019234.50 erstattet.", {123_450}),
    ("Es wurden 500,- € erstattet.", {50_000}),
    ("Es wurden 500,\u2013 erstattet.", {50_000}),
    ("Der Betrag von 49,99 am 20. November wurde erstattet.", {4_999}),
    # Spanish
    ("Le hemos reembolsado 500 euros.", {50_000}),
    ("Se han reembolsado 1.234,50 euros.", {123_450}),
    ("Se han devuelto 1 234,50 €.", {123_450}),
    ("Se han devuelto 1\u00a0234,50\u00a0€.", {123_450}),
    ("Se han devuelto 1\u202f234,50\u202f€.", {123_450}),
    ("Se han devuelto 1\u2009234\u2009567 dólares.", {123_456_700}),
]

NO_AMOUNT = [
    "Order ORD-1001 was refunded.",
    "Order 1001 was refunded.",
    "Order A-49.99 was refunded.",
    "Order ORD1.50 was refunded.",
    "Order #500 EUR was refunded.",
    "It was refunded on 20.11.2026.",
    "It was refunded on 2026-11-20.",
    "It was refunded on 11/20/2026.",
    "It will be credited within 14 days.",
    "It will be credited in 3-5 days.",
    "It was refunded at 14:30, and told at 14.30 Uhr.",
    "100.00% of it was refunded, or 100,00 %.",
    "3 USB cables were refunded.",
    "2 items of 1,234 were refunded.",
    "Es wurde in 30 Tagen erstattet.",
    "Se ha reembolsado en 14 días.",
    "Version 1.2.3 has 12.345 refunds made.",
    "1.234.50 is no figure.",
    "",
]

BOTH: list[tuple[str, set[int]]] = [
    ("Order 1001: EUR 49.99 refunded within 14 days.", {4_999}),
    ("Order 1001 €49.99 refunded on 20.11.2026.", {4_999}),
    ("For order 1001 234,50 € were refunded.", {23_450}),
    ("In 2026 500 EUR were refunded.", {50_000}),
    ("#1001 EUR 49.99 was refunded.", {4_999}),
]


@pytest.mark.fault(301)
@pytest.mark.parametrize(("sentence", "cents"), [*READ, *BOTH])
def test_a_figure_with_a_currency_or_two_decimals_is_an_amount(sentence: str, cents: set[int]) -> None:
    assert amounts_cents(sentence) == cents


@pytest.mark.fault(301)
@pytest.mark.parametrize("sentence", NO_AMOUNT)
def test_an_order_a_date_or_a_count_is_no_amount(sentence: str) -> None:
    assert amounts_cents(sentence) == set()


GROUPINGS = [("", "."), ("", ","), (",", "."), (".", ","), *((space, ",") for space in " \u00a0\u202f\u2009")]
GROUPINGS += [("'", "."), ("\u2019", "."), (" ", ".")]
FRAMES = ["{}", "€{}", "{} €", "{}\u202f€", "EUR {}", "{} EUR", "{} Euro", "I refunded {} to you."]


@pytest.mark.fault(301)
@given(st.integers(0, MAX_CENTS), st.sampled_from(GROUPINGS), st.sampled_from(FRAMES))
def test_an_amount_is_read_back_as_it_was_written_in_any_grouping(
    cents: int, grouping: tuple[str, str], frame: str
) -> None:
    group, mark = grouping
    whole, _, decimals = write_cents(cents).partition(".")
    written = f"{int(whole):,}".replace(",", group) + mark + decimals
    assert amounts_cents(frame.format(written)) == {cents}


@pytest.mark.fault(301)
@given(st.integers(0, MAX_CENTS // 100), st.sampled_from(GROUPINGS), st.sampled_from(FRAMES[1:-1]))
def test_a_whole_amount_is_read_where_it_stands_with_a_currency(
    whole: int, grouping: tuple[str, str], frame: str
) -> None:
    written = f"{whole:,}".replace(",", grouping[0])
    assert amounts_cents(frame.format(written)) == {whole * 100}


@pytest.mark.parametrize(
    "piece",
    ["1 111", "1.111.", "9", "$", "$1", "EUR ", "1,", "1'", "1.1", " ", "500 EUR ", "1 111 EUR", "-1", "%"],
)
def test_a_long_sentence_is_read_in_linear_time(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    began = time.process_time()
    amounts_cents(text)
    assert time.process_time() - began < 2.0
