"""What code says to a customer, said again in the reader's language: ours to the letter, and nothing else."""

import re
import time
from collections.abc import Mapping
from string import Formatter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refund_agent import notices, reasons
from refund_agent.languages import AMOUNTS, LANGUAGES, Language, Notice
from refund_agent.notices import (
    APPROVED_NOT_SENT,
    CHECKED,
    CORRECTED_BELOW,
    CORRECTION,
    DECLINED,
    ENTRIES,
    GIVEN_BACK,
    NO_REFUND,
    NOT_CERTAIN,
    NOT_DECIDED_YET,
    REPLY_ENDS,
    SENT,
    SENT_WITH_STATUS,
    STATUS_LINES,
    UNANSWERED,
    UNANSWERED_WITH_REFUND,
    entry_in,
    reply_in,
    without_status_line,
)
from refund_agent.reasons import FINAL_SALE, REASONS

NAMED = {
    f"{module.__name__.rpartition('.')[2]}.{name}": value
    for module in (notices, reasons)
    for name, value in vars(module).items()
    if isinstance(value, Notice)
}
OTHERS: tuple[Language, ...] = ("de", "es")
PAID = SENT_WITH_STATUS.say(amount="49.99 EUR", order="A1", reference="re-1", status="succeeded")
PAID_DE = "Erstattung gesendet: 49,99 EUR für Bestellung A1. Referenz: re-1, Status: succeeded."
HOSTILE = {
    "nothing": "",
    "spaces": "  ",
    "lines": "a\nb\r\nc",
    "braces": "{order} {0} {{}} }{",
    "backslashes": "\\1 \\g<0> \\n $& %s",
    "another notice": DECLINED.en,
    "another status": "Refund not made: all. No money moved. A colleague will follow up.",
    "a correction": CORRECTION.en,
    "its last words": "x. A colleague is checking; you need not ask again.",
    "figures": "49.99 EUR",
    "right to left": "\u202e\u2067abc\u200f\u2069",
    "markup": "<script>alert(1)</script>&amp;",
    "very long": "so " * 30_000,
}


def gaps_of(words: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(words) if name is not None}


def filled(notice: Notice, value: str) -> dict[str, str]:
    """Fill every gap with `value`, but for those that code alone fills: refund, amount, day, number."""
    counted = {"day": "2026-11-02", "days": "31", "window": "30"}
    fixed = {"refund": PAID, **dict.fromkeys(AMOUNTS, "1234.50 EUR"), **counted}
    return {name: fixed.get(name, value) for name in gaps_of(notice.en)}


def expected(notice: Notice, gaps: Mapping[str, str], language: Language) -> str:
    """Say it by hand: the template with the same values, a comma in amounts."""
    commas = {name: value.replace(".", ",") for name, value in gaps.items() if name in AMOUNTS}
    refund = {"refund": PAID_DE if language == "de" else entry_in("es", PAID)} if "refund" in gaps else {}
    words: str = getattr(notice, language)
    return words.format(**{**gaps, **commas, **refund})


def said_in(language: Language, notice: Notice, text: str) -> str:
    """Say the text where this notice is said: as an entry, as a reply, or as a reason."""
    if notice in ENTRIES:
        return entry_in(language, text)
    if notice in REPLY_ENDS:
        return reply_in(language, text)
    prefix = APPROVED_NOT_SENT.en.format(reason="")
    said = entry_in(language, prefix + text)
    before = APPROVED_NOT_SENT.say_in(language, {"reason": ""})
    assert said.startswith(before)
    return said.removeprefix(before)


every_notice = pytest.mark.parametrize("notice", NAMED.values(), ids=NAMED.keys())
in_another_language = pytest.mark.parametrize("language", OTHERS)

# --- The sentences --------------------------------------------------------------------------------


def test_every_notice_can_be_known_again() -> None:
    assert {*ENTRIES, *REPLY_ENDS, *REASONS} == set(NAMED.values())


@every_notice
def test_a_notice_has_the_same_gaps_in_each_language_and_words_between_them(notice: Notice) -> None:
    templates = [notice.en, notice.de, notice.es]
    assert len({frozenset(gaps_of(words)) for words in templates}) == 1
    assert len(set(templates)) == 3
    assert not any("}{" in words for words in templates)


@every_notice
def test_a_customer_is_addressed_formally(notice: Notice) -> None:
    familiar = r"\b(?:du|dich|dir|dein\w*|euch|euer|eure\w*|tú|tu|tus|ti|te|contigo|vosotros|vuestr\w*)\b"
    assert not re.search(familiar, f"{notice.de} {notice.es}", re.IGNORECASE)


# --- Said again -----------------------------------------------------------------------------------


@every_notice
@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_is_in_the_gaps_comes_through_whatever_it_is(notice: Notice, value: str) -> None:
    gaps = filled(notice, value)
    text = notice.say(**gaps)
    assert said_in("en", notice, text) == text
    for language in OTHERS:
        assert said_in(language, notice, text) == expected(notice, gaps, language)


@every_notice
@given(value=st.text(max_size=40))
def test_any_text_in_the_gaps_comes_through(notice: Notice, value: str) -> None:
    gaps = filled(notice, value)
    if notice in REPLY_ENDS and notice not in ENTRIES and "\n\n" in value:
        return
    assert said_in("de", notice, notice.say(**gaps)) == expected(notice, gaps, "de")


@in_another_language
@pytest.mark.parametrize(
    "gaps",
    [
        {"order": "A1. Reference: x", "reference": "re-1"},
        {"order": "A1", "reference": "re-1, status: x. Reference: y"},
        {"order": SENT.en, "reference": SENT_WITH_STATUS.en},
    ],
)
def test_a_gap_with_the_notices_own_words_loses_nothing(language: Language, gaps: dict[str, str]) -> None:
    """Where it ends is then a guess; every character that is not ours is there all the same."""
    text = SENT.say(amount="1.00", **gaps)
    said = entry_in(language, text)
    assert said.startswith(SENT.say_in(language, {"amount": "1.00", "order": "", "reference": ""})[:18])
    assert entry_in("en", text) == text
    assert all(word in said for word in re.findall(r"\w+-?\d", " ".join(gaps.values())))


@pytest.mark.parametrize(
    ("amount", "said"),
    [("49.99 EUR", "49,99 EUR"), ("0.05", "0,05"), ("90071992547409.91 JPY", "90071992547409,91 JPY")],
)
def test_an_amount_has_a_comma_where_readers_expect_one(amount: str, said: str) -> None:
    text = NOT_CERTAIN.say(amount=amount, order="1.50")
    assert f" {said} für Bestellung 1.50 " in entry_in("de", text)


def test_the_reason_of_a_refund_that_was_not_sent_is_said_too() -> None:
    assert entry_in("de", APPROVED_NOT_SENT.say(reason=FINAL_SALE.say())).endswith(FINAL_SALE.de)
    assert entry_in("es", APPROVED_NOT_SENT.say(reason="HTTP 502")).endswith(": HTTP 502")


@in_another_language
def test_the_words_of_staff_stay_theirs_even_where_they_are_like_ours(language: Language) -> None:
    for note in (PAID, CORRECTION.en, FINAL_SALE.en, GIVEN_BACK.en):
        assert entry_in(language, DECLINED.say(note=note)).endswith(f": {note}")


# --- What is not ours -----------------------------------------------------------------------------


@every_notice
@in_another_language
@pytest.mark.parametrize(
    "change",
    [
        lambda text: f" {text}",
        lambda text: f"Hello. {text}",
        lambda text: f"{text}\n",
        lambda text: text.swapcase(),
        lambda text: text.replace(" ", "\N{NO-BREAK SPACE}", 1),
        lambda text: text[1:],
    ],
    ids=["indented", "after a sentence", "with a line end", "other case", "other space", "cut"],
)
def test_what_is_not_to_the_letter_ours_is_left_alone(
    notice: Notice, language: Language, change: Any
) -> None:
    text = change(notice.say(**filled(notice, "x")))
    ends_free = notice.en.endswith("}") and "\n" in text
    if not ends_free:  # then the line end is a part of what somebody else wrote
        assert said_in(language, notice, text) == text


@in_another_language
@pytest.mark.parametrize(
    "text",
    [
        "Refund sent: all of it for order A1. Reference: re-1.",
        "Refund sent: 49,99 EUR for order A1. Reference: re-1.",
        "Refund sent: 49.99 EUR for order A1.",
        "A colleague has checked. All is well.",
        "This message was not answered. Sorry!",
        "",
        "\n\n",
    ],
)
def test_what_only_looks_like_ours_is_left_alone(language: Language, text: str) -> None:
    assert entry_in(language, text) == text
    assert reply_in(language, text) == text


@in_another_language
@pytest.mark.parametrize("notice", [one for one in ENTRIES if one not in REPLY_ENDS])
def test_a_model_that_says_what_only_an_entry_says_is_left_alone(notice: Notice, language: Language) -> None:
    text = notice.say(**filled(notice, "x"))
    if without_status_line(text) == text:
        assert reply_in(language, text) == text


# --- A reply --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", ["Hello.", "Hello.\n\nAll done.", f"{NO_REFUND.en} is what I say.", "a\n\n\nb"]
)
@pytest.mark.parametrize(
    "ends",
    [
        (NO_REFUND,),
        (CORRECTION,),
        (CORRECTION, NOT_DECIDED_YET),
        (CORRECTED_BELOW, NOT_CERTAIN),
    ],
)
@in_another_language
def test_the_ends_of_a_reply_are_said_again_and_the_models_words_are_not(
    words: str, ends: tuple[Notice, ...], language: Language
) -> None:
    gaps = [filled(end, "A1") for end in ends]
    text = "\n\n".join([words, *(end.say(**one) for end, one in zip(ends, gaps, strict=True))])
    said = [expected(end, one, language) for end, one in zip(ends, gaps, strict=True)]
    assert reply_in(language, text) == "\n\n".join([words, *said])


def test_a_reply_that_is_all_ours_is_said_whole() -> None:
    assert reply_in("de", PAID) == PAID_DE
    assert reply_in("de", f"{CORRECTED_BELOW.en}\n\n{PAID}") == f"{CORRECTED_BELOW.de}\n\n{PAID_DE}"


@in_another_language
@pytest.mark.parametrize(
    "text",
    [f"{PAID}\n\nBye.", f"{CORRECTION.en}\n\nBye.", f"Hello.\n{NO_REFUND.en}", f"{NO_REFUND.en}\n\n"],
)
def test_our_words_anywhere_but_at_the_end_are_the_models(text: str, language: Language) -> None:
    assert reply_in(language, text) == text


def test_no_more_of_a_reply_is_ours_than_code_writes() -> None:
    text = "\n\n".join([NO_REFUND.en] * 4)
    assert reply_in("de", text) == "\n\n".join([NO_REFUND.en] * 2 + [NO_REFUND.de] * 2)


# --- Beside a card --------------------------------------------------------------------------------


@pytest.mark.parametrize("status", STATUS_LINES)
def test_beside_a_card_the_status_line_is_left_out_and_a_correction_is_kept(status: Notice) -> None:
    line = status.say(**filled(status, "A1"))
    assert without_status_line(line) == ""
    assert (
        without_status_line(f"Sorry.\n\n{CORRECTED_BELOW.en}\n\n{line}") == f"Sorry.\n\n{CORRECTED_BELOW.en}"
    )
    assert without_status_line(UNANSWERED_WITH_REFUND.say(refund=line)) == UNANSWERED.en


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hello.",
        f"{PAID}\n\nBye.",
        f"Hello. {PAID}",
        CHECKED.say(refund=PAID),
        "This message was not answered. Sorry!",
        f"Hello.\n\n{NO_REFUND.en}",
        f"Hello.\n\n{NOT_DECIDED_YET.en}",
    ],
)
def test_nothing_else_is_ever_left_out(text: str) -> None:
    assert without_status_line(text) == text


# --- However long ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "x" * 100_000,
        "\n\n" * 50_000,
        "Refund sent: " * 8_000,
        "Refund sent: 1.00 for order " + ". Reference: " * 8_000,
        "Refund sent: 1.00 for order " + ". Reference: , status: " * 5_000 + ".",
        "Refund sent: " + "1" * 100_000,
        "This order was already refunded on " + ": 1.00 of " * 10_000,
        "The approved refund was not sent: " * 3_000,
        "A colleague has checked. " * 4_000,
        f"{NO_REFUND.en}\n\n" * 2_500,
        "Handed to a colleague (order " + "): " * 30_000,
    ],
    ids=lambda text: text[:30],
)
def test_a_hundred_thousand_characters_are_read_at_once(text: str) -> None:
    began = time.process_time()
    for language in LANGUAGES:
        entry_in(language, text)
        reply_in(language, text)
        without_status_line(text)
    assert time.process_time() - began < 1
