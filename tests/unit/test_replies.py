"""What the customer reads about money is made by code from the ledger."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from refund_agent.claims import claims_money_moved, sentences
from refund_agent.notices import CORRECTION
from refund_agent.outcomes import GateState, RefundRecord
from refund_agent.replies import Reply, honest_reply, without_identifiers
from refund_agent.turn import AssistantMessage, ToolCall, UserMessage


def record(state: GateState) -> RefundRecord:
    return RefundRecord("t", state, "ORD-1", 4999, "1.0", "rf-1" if state == "paid" else "", "succeeded")


def reply(
    text: str, refund: RefundRecord | None = None, *, used: Sequence[str] = (), escalated: bool = False
) -> Reply:
    messages = [UserMessage("hello")]
    calls = [AssistantMessage("", (ToolCall("c", tool, "{}"),)) for tool in used]
    return honest_reply(
        text, messages=[*messages, *calls], refund=refund, currency="EUR", escalated=escalated
    )


def test_a_paid_refund_is_told_with_amount_order_and_reference() -> None:
    told = reply("Your refund of 49.99 has been sent.", record("paid"))
    assert told.text.startswith("Your refund of 49.99 has been sent.")
    assert told.text.endswith("Refund sent: 49.99 EUR for order ORD-1. Reference: rf-1, status: succeeded.")
    assert told.corrections == ()


@pytest.mark.fault(275)
@pytest.mark.parametrize(
    "text",
    [
        "I have refunded 500.00 to you.",
        "The refund of 49,98 was issued.",
        "I have refunded 500 EUR.",
        "Es wurden 5.000 € erstattet.",
        "Se han reembolsado 1 049,99 €.",
    ],
)
def test_a_claim_of_another_amount_is_taken_out(text: str) -> None:
    told = reply(text, record("paid"))
    assert text not in told.text
    assert told.corrections == (text,)
    assert "49.99 EUR" in told.text


@pytest.mark.fault(301)
@pytest.mark.parametrize("written", ["$1,234.50", "1.234,50 €", "1 234,50 €", "1\u202f234,50 €", "1'234.50"])
def test_a_true_claim_stands_however_its_amount_is_written(written: str) -> None:
    text = f"I have refunded {written} for order 1001 within 14 days."
    assert reply(text, replace(record("paid"), amount_cents=123_450)).corrections == ()


@pytest.mark.fault(272, 276)
@pytest.mark.parametrize(
    "claim",
    [
        "I have refunded your order.",
        "Your refund has been processed!",
        "The money is on its way.",
        "We've just refunded 20.00 to your card.",
        "I issued a full refund for you.",
        "Der Betrag wurde erstattet.",
        "Ihre Rückerstattung wurde veranlasst.",
        "Dein Geld ist unterwegs.",
        "Su reembolso ha sido procesado.",
        "Se han reembolsado 20 € en su tarjeta.",
        "Se le ha devuelto el importe.",
        "El dinero ya está en camino.",
        "Votre remboursement a été effectué.",
        "Il rimborso è stato inviato.",
    ],
)
def test_a_claim_without_a_ledger_row_is_corrected_visibly_and_recorded(claim: str) -> None:
    told = reply(f"Hello Ann. {claim}")
    assert told.text == f"Hello Ann.\n\n{CORRECTION.en}"
    assert told.corrections == (claim,)


@pytest.mark.fault(273)
@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("unknown", "not certain yet"),
        ("claimed", "not certain yet"),
        ("rejected", "Refund not made"),
        ("not_sent", "Refund not made"),
    ],
)
def test_a_claim_that_the_row_contradicts_is_taken_out_and_the_state_is_told(
    state: GateState, said: str
) -> None:
    told = reply("Good news! Your refund was sent.", record(state))
    assert "was sent" not in told.text
    assert said in told.text
    assert len(told.corrections) == 1


@pytest.mark.parametrize(
    "text",
    [
        "I have not refunded anything.",
        "Once the refund is approved you will hear from us.",
        "If the refund was sent you will see it.",
        "Es wurde noch nichts erstattet, wenn die Ware fehlt.",
        "No refund has been issued.",
        "No se ha reembolsado nada.",
        "Se il rimborso è stato inviato, lo vedrà.",
    ],
)
def test_an_honest_sentence_is_no_claim(text: str) -> None:
    assert reply(text, used=["get_order"]).corrections == ()


@pytest.mark.parametrize("text", ["钱已经退给您了", "Деньги уже возвращены", "返金しました", "ספר"])
def test_in_a_script_we_cannot_read_the_status_line_is_always_there(text: str) -> None:
    assert "(No refund was made with this message.)" in reply(text).text


def test_small_talk_has_no_status_line() -> None:
    assert reply("Hello! How can I help you?").text == "Hello! How can I help you?"


def test_where_a_tool_was_used_the_status_line_is_there_whatever_the_words() -> None:
    assert "(No refund was made with this message.)" in reply("All done, bye!", used=["get_order"]).text


def test_merely_fetching_a_colleague_is_no_word_about_money() -> None:
    text = "I have asked a colleague to join us."
    assert reply(text, used=["escalate_to_human"]).text == text


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("A colleague will look at your refund.", ["escalate_to_human"]),
        ("I have asked a colleague to join us.", ["get_order", "escalate_to_human"]),
        ("I have asked a colleague to join us.", ["escalate_to_human", "issue_refund"]),
    ],
)
def test_fetching_a_colleague_about_money_says_that_none_was_moved(text: str, used: list[str]) -> None:
    assert reply(text, used=used).text == f"{text}\n\n(No refund was made with this message.)"


def test_an_escalated_refund_is_told_as_not_made_yet() -> None:
    assert "a colleague will decide" in reply("I passed it on.", used=["get_order"], escalated=True).text


def test_an_empty_reply_still_tells_what_became_of_the_money() -> None:
    assert reply("", record("paid")).text.startswith("Refund sent: 49.99 EUR")


def test_internal_names_and_ids_are_taken_out() -> None:
    text = "I used issue_refund() on 12ae0278-be7b-43ac-826b-5135c6d89e59 with order_id A1 (call_abcdef123)."
    assert without_identifiers(text) == "I used the refund on  with order number A1 ()."


@pytest.mark.parametrize("text", ["", "a. b! c? d", "49.99 is 4999 cents. Yes!\n\nNext line", "…", "no end"])
def test_sentences_joined_are_the_text(text: str) -> None:
    assert "".join(sentences(text)) == text


def test_a_figure_with_decimals_does_not_end_a_sentence() -> None:
    assert list(sentences("I refunded 49.99 to you. Bye.")) == ["I refunded 49.99 to you. ", "Bye."]


def test_long_hostile_texts_are_read_in_time() -> None:
    for text in ("refund " * 5000, "1." * 10_000, "refunded" * 4000, "a" * 32_000):
        assert not reply(text).text.startswith("Refund sent")
        assert isinstance(claims_money_moved(text), bool)
