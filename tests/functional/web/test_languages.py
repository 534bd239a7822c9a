"""Each reader has what code says in their own language, whichever way they read it; refund chat has one."""

import uuid
from typing import Any

import pytest
from werkzeug.test import TestResponse

from refund_agent.languages import LANGUAGES, Language
from refund_agent.outcomes import Rejected, Replied
from refund_agent.turn import ToolCall, TurnRecord
from tests.fakes import calls, calls_refund, fails, says
from tests.functional.web.conftest import Web
from tests.functional.web.people import bearer
from tests.functional.web.support_room import SupportRoom, body_of
from tests.functional.web.turn_stage import read_stream

STREAM = {"Accept": "text/event-stream"}
SENT: dict[Language, str] = {
    "en": "Refund sent: 49.99 EUR for order A1. Reference: re-1, status: succeeded.",
    "de": "Erstattung gesendet: 49,99 EUR für Bestellung A1. Referenz: re-1, Status: succeeded.",
    "es": "Reembolso enviado: 49,99 EUR del pedido A1. Referencia: re-1, estado: succeeded.",
}
REFUND = (calls_refund("A1", 4_999), says("Bitte sehr."))
in_each_language = pytest.mark.parametrize("language", LANGUAGES)


def read(room: SupportRoom, path: str, language: str, *, by: str = "alice") -> TestResponse:
    answer = room.client.get(path, headers={**bearer(f"is-{by}"), "Accept-Language": language})
    assert answer.status_code == 200, answer.text
    return answer


def lines_in(room: SupportRoom, conversation_id: str, language: str) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = body_of(read(room, f"/support/conversations/{conversation_id}", language))[
        "messages"
    ]
    return lines


def ended(answer: TestResponse) -> Any:
    _, name, body = read_stream(answer.data)[-1]
    assert name == "ended"
    return body


def assert_says_its_language(answer: TestResponse, language: str) -> None:
    assert answer.headers["Content-Language"] == language
    assert "Accept-Language" in answer.vary


# --- Every way to read a reply ----------------------------------------------------------------------


@in_each_language
def test_a_reply_is_the_same_by_every_way_to_read_it(room: SupportRoom, language: Language) -> None:
    said = room.chat("Refund A1", *REFUND, headers={"Accept-Language": language})
    body = body_of(said)
    turn = read(room, f"/support/turns/{body['turn_id']}", language)
    stream = read(room, f"/support/turns/{body['turn_id']}/events", language)
    line = lines_in(room, body["conversation_id"], language)[-1]

    expected = (f"Bitte sehr.\n\n{SENT[language]}", "Bitte sehr.")
    for shown in (body, body_of(turn), ended(stream)):
        assert (shown["reply"], shown["words"]) == expected
    assert (line["text"], line["words"]) == expected
    for answer in (said, turn, stream):
        assert_says_its_language(answer, language)


@in_each_language
def test_a_message_that_is_answered_by_a_stream_ends_in_its_language(
    room: SupportRoom, language: Language
) -> None:
    answer = room.chat("Refund A1", *REFUND, headers={**STREAM, "Accept-Language": language})
    assert ended(answer)["reply"].endswith(SENT[language])
    assert ended(answer)["words"] == "Bitte sehr."
    assert_says_its_language(answer, language)


def test_a_message_sent_again_is_answered_in_the_language_of_now(room: SupportRoom) -> None:
    key = {"Idempotency-Key": "k-1"}
    room.chat("Refund A1", *REFUND, headers=key)
    again = body_of(room.chat("Refund A1", headers={**key, "Accept-Language": "de"}))
    assert again["reply"].endswith(SENT["de"])


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        (None, "en"),
        ("", "en"),
        ("*", "en"),
        ("fr", "en"),
        ("de-AT", "de"),
        ("es-419,es;q=0.9,en;q=0.8", "es"),
        ("fr, de;q=0.5", "de"),
        ("en;q=0.2, de;q=0.1", "en"),
        ("de;q=0", "en"),
        (",;q=x,,", "en"),
        ("de," * 2_000, "de"),
    ],
)
def test_the_language_is_the_one_that_the_reader_likes_best(
    room: SupportRoom, asked: str | None, language: Language
) -> None:
    headers = {} if asked is None else {"Accept-Language": asked}
    answer = room.chat("Refund A1", *REFUND, headers=headers)
    assert body_of(answer)["reply"] == f"Bitte sehr.\n\n{SENT[language]}"
    assert_says_its_language(answer, language)


# --- What is beside a card --------------------------------------------------------------------------


def test_without_a_refund_there_are_no_words_beside_it(room: SupportRoom) -> None:
    said = body_of(room.chat("Refund?", says("You may ask for a refund.")))
    turn = body_of(room.get(f"/support/turns/{said['turn_id']}"))
    lines = lines_in(room, said["conversation_id"], "en")
    assert said["reply"].endswith("(No refund was made with this message.)")
    assert [shown["words"] for shown in (said, turn, *lines)] == [None] * 4


def test_a_correction_is_kept_beside_the_refund_that_it_is_about(room: SupportRoom) -> None:
    wrong = says("Good day. I have refunded 60.00 EUR.")
    room.stage.payments.ends(Rejected("closed"))
    said = body_of(room.chat("Refund", calls_refund("A1", 4_999), wrong, headers={"Accept-Language": "de"}))
    assert said["words"] == "Good day.\n\nKorrektur: Der Stand Ihrer Erstattung steht unten."
    assert said["reply"].startswith(f"{said['words']}\n\nNicht erstattet: 49,99 EUR für Bestellung A1.")


def test_a_reply_of_nothing_but_the_refund_has_empty_words(room: SupportRoom) -> None:
    said = body_of(room.chat("Refund", calls_refund("A1", 4_999), says("")))
    assert (said["reply"], said["words"]) == (SENT["en"], "")


def test_a_message_without_an_answer_says_so_and_what_its_refund_came_to(room: SupportRoom) -> None:
    conversation_id = room.stage.open("alice")
    room.chat("Refund A1", calls_refund("A1", 4_999), fails("500"), conversation_id=conversation_id)
    line = lines_in(room, conversation_id, "es")[-1]
    assert line["text"].startswith(
        "Este mensaje quedó sin respuesta. Reembolso enviado: 49,99 del pedido A1."
    )
    assert line["words"] == "Este mensaje quedó sin respuesta."


# --- What happens between replies -------------------------------------------------------------------


def test_an_approval_is_told_in_the_readers_language_and_its_refund_beside_a_card(room: SupportRoom) -> None:
    said = body_of(room.chat("Refund all of A1", calls_refund("A1", 80_000), says("Gut.")))
    (waiting,) = body_of(room.get("/support/approvals", by="sam"))["approvals"]
    body = {"decision": "approve", "reason": "As agreed."}
    room.post(f"/support/approvals/{waiting['approval_id']}", body, by="dana")

    told = [(line["text"], line["words"]) for line in lines_in(room, said["conversation_id"], "de")[-3:]]
    told_in_english = [line["text"] for line in lines_in(room, said["conversation_id"], "en")]
    assert told[0][0].endswith("Es wurde noch nichts erstattet: Unser Team entscheidet darüber.")
    assert told[1] == ("Unser Team hat Ihre Erstattung genehmigt. Sie wird gerade gesendet.", None)
    assert told[2] == (
        "Erstattung gesendet: 800,00 EUR für Bestellung A1. Referenz: re-1, Status: succeeded.",
        "",
    )
    assert told_in_english[-1] == "Refund sent: 800.00 EUR for order A1. Reference: re-1, status: succeeded."


def test_people_are_quoted_as_they_wrote_whoever_reads(room: SupportRoom) -> None:
    conversation_id = room.stage.open("alice")
    path = f"/support/conversations/{conversation_id}"
    room.post(f"{path}/take", by="dana")
    room.chat("(No refund was made with this message.)", conversation_id=conversation_id)
    room.post(f"{path}/messages", {"text": "The assistant answers again."}, by="dana")
    room.post(f"{path}/give-back", by="dana")

    assert [line["text"] for line in lines_in(room, conversation_id, "de")] == [
        "Jemand aus unserem Team hat das Gespräch übernommen.",
        "(No refund was made with this message.)",
        "The assistant answers again.",
        "Der Assistent antwortet wieder.",
    ]


def test_a_hand_over_is_told_with_the_reason_as_it_was_given(room: SupportRoom) -> None:
    hand_over = ToolCall("c", "escalate_to_human", '{"reason": "It is broken.", "order_id": "A1"}')
    said = body_of(room.chat("A person!", calls(hand_over), says("Jemand kommt.")))
    lines = lines_in(room, said["conversation_id"], "de")
    assert "An unser Team übergeben (Bestellung A1): It is broken." in [line["text"] for line in lines]


# --- Refund chat ------------------------------------------------------------------------------------


def test_refund_chat_is_answered_to_the_letter_whatever_language_is_asked_for(web: Web) -> None:
    said = Replied(f"Done.\n\n{SENT['en']}")
    web.facade.answer = lambda new: TurnRecord(new.id, "ended", 0, 0, outcome=said)
    body = {"user_id": "customer-17", "message": "Refund ORD-1001, please."}
    answer = web.client.post("/support/refund-chat", json=body, headers={"Accept-Language": "de"})
    assert answer.json == {"reply": said.text}
    assert "Content-Language" not in answer.headers
    assert "Accept-Language" not in answer.vary


def test_a_turn_of_refund_chat_is_shown_as_ever_whatever_language_is_asked_for(web: Web) -> None:
    turn_id = str(uuid.uuid4())
    web.facade.found[turn_id] = TurnRecord(turn_id, "ended", 0, 0, outcome=Replied(SENT["en"]))
    answer = web.client.get(f"/support/turns/{turn_id}", headers={"Accept-Language": "de"})
    body = answer.get_json()
    assert body["reply"] == SENT["en"]
    assert "words" not in body
    assert "Content-Language" not in answer.headers
    assert "Accept-Language" not in answer.vary


# --- The API document -------------------------------------------------------------------------------


def test_every_route_that_speaks_a_readers_language_says_so(room: SupportRoom) -> None:
    paths = room.client.get("/openapi.json").get_json()["paths"]
    speaking = {
        path
        for path, routes in paths.items()
        for route in routes.values()
        if isinstance(route, dict)
        and any(given.get("name") == "Accept-Language" for given in route.get("parameters", ()))
    }
    assert speaking == {
        "/support/chat",
        "/support/conversations/{conversation_id}",
        "/support/turns/{turn_id}",
        "/support/turns/{turn_id}/events",
    }


def test_the_words_beside_a_refund_are_documented(room: SupportRoom) -> None:
    schemas = room.client.get("/openapi.json").get_json()["components"]["schemas"]
    assert "words" in schemas["SupportChatReply"]["required"]
    assert "words" in schemas["TurnView"]["properties"]
    assert "words" not in schemas["TurnView"]["required"], "refund-chat's turns have none"
