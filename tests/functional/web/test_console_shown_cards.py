"""A queue that is looked at again: no news has no body, and what others decided is shown to whoever asks."""

import uuid

import pytest

from tests.fakes import calls_refund, says
from tests.functional.web.console_room import Visitor, text_of, visit
from tests.functional.web.support_room import SupportRoom, body_of
from web.console.shown_cards import MOST, read_held

APPROVALS, UNKNOWN = "/console/approvals", "/console/unknown"


@pytest.fixture
def approval_id(room: SupportRoom) -> str:
    """An approval of 800.00 that waits."""
    room.chat("Refund all of A1", calls_refund("A1", 80_000), says("A colleague decides."))
    (found,) = room.stage.approvals.page(state="pending", limit=10)
    return found.id


@pytest.fixture
def lost_id(room: SupportRoom) -> str:
    """A refund whose answer was lost."""
    room.stage.payments.accepts_then_drops_the_answer()
    body = body_of(room.chat("Refund B1", calls_refund("B1", 4_999), says("Not sure yet."), by="bob"))
    return str(body["turn_id"])


@pytest.fixture
def dana(room: SupportRoom) -> Visitor:
    return visit(room)


@pytest.fixture
def robin(room: SupportRoom) -> Visitor:
    return visit(room, "robin")


def items(page: str) -> list[str]:
    return [part.split('"')[0] for part in page.split('data-item="')[1:]]


def test_what_another_decided_is_not_in_the_queue_unless_it_is_held(
    dana: Visitor, robin: Visitor, approval_id: str
) -> None:
    robin.post(f"{APPROVALS}/{approval_id}", decision="decline", reason="Used goods.")

    assert items(dana.get(APPROVALS).text) == []
    answer = dana.get(f"{APPROVALS}?held={approval_id}")
    assert items(answer.text) == [approval_id]
    assert "robin declined it at 20" in text_of(answer)
    assert "Used goods. What you wrote here will not be sent." in text_of(answer)
    assert answer.text.count('aria-disabled="true"') == 2


def test_what_still_waits_is_in_the_queue_once_however_it_is_held(dana: Visitor, approval_id: str) -> None:
    answer = dana.get(f"{APPROVALS}?held={approval_id},{approval_id}")
    assert items(answer.text) == [approval_id]
    assert "aria-disabled" not in answer.text


def test_what_is_held_keeps_its_place(
    room: SupportRoom, dana: Visitor, robin: Visitor, approval_id: str
) -> None:
    room.chat("Refund all of B1", calls_refund("B1", 60_000), says("A colleague decides."), by="bob")
    before = items(dana.get(APPROVALS).text)
    assert before[0] == approval_id
    robin.post(f"{APPROVALS}/{approval_id}", decision="decline", reason="Used goods.")
    assert items(dana.get(f"{APPROVALS}?held={approval_id}").text) == before


def test_an_answer_of_another_is_shown_on_the_refund_that_is_held(
    dana: Visitor, robin: Visitor, lost_id: str
) -> None:
    robin.post(f"{UNKNOWN}/{lost_id}", answer="moved", reference="re-77", note="On their list.")

    assert items(dana.get(UNKNOWN).text) == []
    page = text_of(dana.get(f"{UNKNOWN}?held={lost_id}"))
    assert "robin answered at 20" in page
    assert "the money moved, reference re-77. On their list. What you wrote here will not be sent." in page


def test_a_refund_that_never_was_unknown_is_not_in_the_queue(room: SupportRoom, dana: Visitor) -> None:
    paid = body_of(room.chat("Refund A1", calls_refund("A1", 4_999), says("Done.")))
    assert items(dana.get(f"{UNKNOWN}?held={paid['turn_id']}").text) == []


def test_whoever_only_reads_is_told_who_decided_and_nothing_of_a_form(
    room: SupportRoom, robin: Visitor, approval_id: str
) -> None:
    robin.post(f"{APPROVALS}/{approval_id}", decision="decline", reason="Used goods.")
    page = text_of(visit(room, "sam").get(f"{APPROVALS}?held={approval_id}"))
    assert "robin declined it" in page
    assert "What you wrote" not in page


@pytest.mark.parametrize("path", [APPROVALS, UNKNOWN])
def test_a_queue_in_which_nothing_is_new_has_no_body(
    dana: Visitor, approval_id: str, lost_id: str, path: str
) -> None:
    etag = dana.get(path).headers["ETag"]
    assert dana.get(path, **{"If-None-Match": etag}).status_code == 304


def test_a_conversation_in_which_nothing_happens_is_new_when_more_waits(
    room: SupportRoom, dana: Visitor
) -> None:
    path = f"/console/conversations/{body_of(room.chat('Hello', says('Hello.')))['conversation_id']}"
    etag = dana.get(path).headers["ETag"]
    assert dana.get(path, **{"If-None-Match": etag}).status_code == 304
    room.chat("Refund B1", calls_refund("B1", 60_000), says("A colleague decides."), by="bob")
    assert dana.get(path, **{"If-None-Match": etag}).status_code == 200


def test_what_is_held_is_read_as_ids_and_so_many() -> None:
    ids = [str(uuid.uuid4()) for _ in range(MOST + 5)]
    assert read_held({"held": ",".join(ids)}) == ids[:MOST]
    assert read_held({"held": f"<b>,{ids[0]},,{ids[0].upper()}"}) == ids[:1]
    assert read_held({}) == []
