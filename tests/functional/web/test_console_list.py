"""The list of conversations: what its address asks for, and how it is kept fresh."""

import pytest

from refund_agent.ports import StoreUnavailable
from tests.fakes import calls_refund, says
from tests.functional.web.conftest import problem_of
from tests.functional.web.console_room import Visitor, text_of, visit
from tests.functional.web.support_room import SupportRoom, body_of
from web.console import case_list

LIST = "/console/conversations"
HOSTILE = "<script>alert(1)</script><b>\"'&amp;{{7*7}}"


@pytest.fixture
def sam(room: SupportRoom) -> Visitor:
    """Somebody who may read, which is all that a list takes."""
    return visit(room, "sam")


def test_a_conversation_is_listed_with_what_staff_ask_first(room: SupportRoom, sam: Visitor) -> None:
    body = body_of(room.chat("Refund A1, please", calls_refund("A1", 4_999), says("Done.")))
    answer = sam.get(LIST)
    page = text_of(answer)
    for fact in ("alice", "Refund A1, please", "replied", "paid 49.99 EUR A1"):
        assert fact in page
    assert f'href="{LIST}/{body["conversation_id"]}"' in answer.text


def test_turns_of_refund_chat_have_a_list_of_their_own(room: SupportRoom, sam: Visitor) -> None:
    turn = room.turn_stage.begin("customer-17")
    answer = sam.get("/console/turns")
    page = text_of(answer)
    for fact in ("customer-17", "Where is my order?", "unfinished"):
        assert fact in page
    assert f'href="/console/turns/{turn.id}"' in answer.text
    assert "Nothing found." in text_of(sam.get(LIST))


@pytest.mark.fault(60)
def test_what_a_customer_writes_stays_text(room: SupportRoom, sam: Visitor) -> None:
    room.chat(HOSTILE, says(HOSTILE))
    answer = sam.get(LIST)
    assert HOSTILE in text_of(answer)
    assert "<script>alert" not in answer.text
    again = sam.client.get(LIST, query_string={"q": '"><script>'}, headers=sam.headers)
    assert "<script>" not in again.text


def test_a_name_of_any_length_that_a_portal_gives_its_customer_is_cut(
    room: SupportRoom, sam: Visitor
) -> None:
    room.turn_stage.begin("customer\n" + "x" * 5000)
    answer = sam.get("/console/turns")
    assert "xxx..." in text_of(answer)
    assert "x" * 100 not in answer.text
    assert "?customer=customer" not in answer.text


def test_the_filters_are_in_the_address_and_stay_in_the_form(room: SupportRoom, sam: Visitor) -> None:
    room.chat("Refund A1", calls_refund("A1", 4_999), says("Done."))
    room.chat("Hello there", says("Hi."), by="bob")
    assert "Hello there" not in text_of(sam.get(f"{LIST}?refund=paid"))
    assert "Refund A1" not in text_of(sam.get(f"{LIST}?customer=bob"))
    answer = sam.get(f"{LIST}?q=hello&outcome=replied&age=day&owner=agent")
    assert "Hello there" in text_of(answer)
    for kept in ('value="hello"', '"replied" selected', '"day" selected', '"agent" selected'):
        assert kept in answer.text


@pytest.mark.parametrize(
    "query",
    [
        "outcome=none",
        "refund=closed",
        "rule=any",
        "owner=me",
        "flag=yes",
        "age=7",
        "before=x",
        "before=1.x",
        "before=-1.8e03978e-40d5-43dd-bc93-6894a57f9324",
        f"q={'x' * 201}",
        "q=%00",
        "q=a%0Ab",
    ],
)
def test_a_filter_that_is_none_is_refused(sam: Visitor, query: str) -> None:
    text_of(sam.get(f"{LIST}?{query}"), 422)


def test_older_ones_are_on_a_next_page_with_the_same_filters(
    room: SupportRoom, sam: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(case_list, "PAGE_SIZE", 2)
    for number in range(3):
        room.chat(f"Message {number}", says("Hi."))
    first = sam.get(f"{LIST}?outcome=replied&q=message")
    older = first.text.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    assert "Message 0" not in text_of(first)
    assert "outcome=replied" in older
    second = text_of(sam.get(older))
    assert ("Message 0" in second, "Message 1" in second) == (True, False)


def test_a_list_that_looks_again_gets_nothing_when_it_is_the_same(room: SupportRoom, sam: Visitor) -> None:
    room.chat("Hello", says("Hi."))
    tag = sam.get(LIST).headers["ETag"]
    same = sam.get(LIST, **{"If-None-Match": tag})
    assert (same.status_code, same.data) == (304, b"")
    room.chat("Another", says("Hi."))
    assert "Another" in text_of(sam.get(LIST, **{"If-None-Match": tag}))


def test_a_page_further_back_is_not_kept_fresh(room: SupportRoom, sam: Visitor) -> None:
    assert "data-live" in sam.get(LIST).text
    before = "before=1.8e03978e-40d5-43dd-bc93-6894a57f9324"
    assert "data-live" not in sam.get(f"{LIST}?{before}").text


def test_the_list_is_for_whoever_is_signed_in(room: SupportRoom) -> None:
    text_of(visit(room, "").get(LIST), 401)
    problem_of(room.client.get(LIST), 401)


def test_when_the_database_is_away_the_page_says_so(
    room: SupportRoom, sam: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("away")

    for method in ("page", "waiting"):
        monkeypatch.setattr(type(room.console.casebook), method, away)
    answer = sam.get(LIST)
    assert "The database cannot be asked now" in text_of(answer, 503)
    assert answer.headers["Retry-After"]
