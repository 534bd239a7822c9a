"""The queues that need a person: what they show, who may answer, and that only the first answer counts."""

import uuid
from typing import Any

import pytest
from sqlalchemy import update

from refund_agent.adapters.sql_support_tables import approvals
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.outcomes import Paid
from refund_agent.ports import StoreUnavailable
from tests.fakes import calls_refund, says
from tests.functional.web.console_room import Visitor, text_of, visit
from tests.functional.web.support_room import SupportRoom, body_of


def lines_of(room: SupportRoom, conversation_id: str) -> list[str]:
    found = body_of(room.get(f"/support/conversations/{conversation_id}", by="sam"))
    return [line["text"] for line in found["messages"]]


def waiting_in(visitor: Visitor) -> str:
    """What the navigation says on a page that is no queue's own."""
    page = visitor.get("/console/none").text
    return " ".join(page.split("<nav")[1].split("</nav>")[0].split())


# --- Approvals ------------------------------------------------------------------------------------


@pytest.fixture
def conversation_id(room: SupportRoom) -> str:
    """A conversation with an approval of 800.00 that waits."""
    said = room.chat("Refund all of A1", calls_refund("A1", 80_000), says("A colleague decides."))
    return str(body_of(said)["conversation_id"])


@pytest.fixture
def approval(room: SupportRoom, conversation_id: str) -> str:
    (found,) = room.stage.approvals.page(state="pending", limit=10)
    return f"/console/approvals/{found.id}"


def test_what_waits_for_a_decision_is_shown_with_its_facts(room: SupportRoom, approval: str) -> None:
    page = text_of(visit(room).get("/console/approvals"))
    for fact in ("800.00 EUR for order A1", "alice", "expires 20", "2026-11"):
        assert fact in page


@pytest.mark.fault(268)
def test_approving_sends_the_refund_once_and_says_so(
    room: SupportRoom, approval: str, conversation_id: str
) -> None:
    visitor = visit(room)
    answer = visitor.post(approval, decision="approve", reason="A good customer.")
    assert answer.status_code == 303
    assert "Approved by dana: 800.00 EUR for order A1" in text_of(visitor.get(answer.headers["Location"]))
    text_of(visitor.post(approval, decision="approve", reason="Again."), 409)
    assert room.stage.payments.moved == [("A1", 80_000)]
    assert "Refund sent: 800.00 EUR for order A1" in lines_of(room, conversation_id)[-1]


@pytest.mark.fault(58, 268)
def test_of_two_who_decide_one_wins_and_the_other_reads_who_and_when(
    room: SupportRoom, approval: str, conversation_id: str
) -> None:
    dana, robin = visit(room, "dana"), visit(room, "robin")
    assert dana.post(approval, decision="decline", reason="Used goods.").status_code == 303
    page = text_of(robin.post(approval, decision="approve", reason="Why not."), 409)
    assert "dana declined it at 20" in page
    assert "Used goods." in page
    assert room.stage.payments.requests == []
    assert lines_of(room, conversation_id)[-1] == "A colleague declined your refund: Used goods."


def test_what_has_expired_is_said_to_have(room: SupportRoom, approval: str) -> None:
    with room.stage.database.transaction() as tx:
        tx.execute(update(approvals).values(expires_at_ms=1))
    page = text_of(visit(room).post(approval, decision="approve", reason="Late."), 409)
    assert "expired" in page
    assert room.stage.payments.requests == []


@pytest.mark.fault(268)
def test_the_requester_may_not_approve(room: SupportRoom, approval: str) -> None:
    with room.stage.database.transaction() as tx:
        tx.execute(update(approvals).values(customer_id="dana"))
    page = text_of(visit(room).post(approval, decision="approve", reason="Mine."), 403)
    assert "The requester may not decide" in page
    assert room.stage.payments.requests == []


@pytest.mark.parametrize(
    "fields",
    [
        {"reason": "x"},
        {"decision": "approve"},
        {"decision": "approve", "reason": " "},
        {"decision": "maybe", "reason": "x"},
        {"decision": "approve", "reason": "x" * 4001},
    ],
)
def test_a_decision_needs_a_reason_and_to_be_one(
    room: SupportRoom, approval: str, fields: dict[str, Any]
) -> None:
    text_of(visit(room).post(approval, **fields), 422)
    assert len(room.stage.approvals.page(state="pending", limit=10)) == 1
    assert room.stage.payments.requests == []


def test_there_is_nothing_to_decide_about_what_is_not_there(room: SupportRoom) -> None:
    visitor = visit(room)
    text_of(visitor.post(f"/console/approvals/{uuid.uuid4()}", decision="approve", reason="x"), 404)
    text_of(visitor.post("/console/approvals/none", decision="approve", reason="x"), 404)
    assert "Nothing waits" in text_of(visitor.get("/console/approvals?done=%00"))


# --- Unknown refunds ------------------------------------------------------------------------------


@pytest.fixture
def lost(room: SupportRoom) -> tuple[str, str]:
    """A conversation whose refund's answer was lost, and where it is resolved."""
    room.stage.payments.accepts_then_drops_the_answer()
    body = body_of(room.chat("Refund A1", calls_refund("A1", 4_999), says("Not sure yet.")))
    age_claims(room, minutes=2)
    return body["conversation_id"], f"/console/unknown/{body['turn_id']}"


def age_claims(room: SupportRoom, *, minutes: int) -> None:
    with room.stage.database.transaction() as tx:
        tx.execute(update(refunds).values(decided_at_ms=refunds.c.decided_at_ms - minutes * 60_000))


def test_an_unknown_refund_is_shown_with_the_evidence(room: SupportRoom, lost: tuple[str, str]) -> None:
    with room.stage.database.transaction() as tx:
        tx.execute(update(refunds).values(evidence='{"hm": "<b>"}', late_answer="paid: re-77"))
    page = text_of(visit(room).get("/console/unknown"))
    for fact in ("49.99 EUR for order A1", "alice", "Sent 20", "ReadTimeout", '{"hm": "<b>"}', "paid: re-77"):
        assert fact in page


@pytest.mark.fault(205, 288)
def test_that_the_money_moved_is_saved_with_its_reference_and_told_the_customer(
    room: SupportRoom, lost: tuple[str, str]
) -> None:
    conversation_id, path = lost
    visitor, sent = visit(room), list(room.stage.payments.requests)
    answer = visitor.post(path, answer="moved", reference="re-77")
    assert "is now paid , reference re-77" in text_of(visitor.get(answer.headers["Location"]))
    assert lines_of(room, conversation_id)[-1] == (
        "A colleague has checked. Refund sent: 49.99 EUR for order A1. Reference: re-77."
    )
    assert room.stage.payments.requests == sent


@pytest.mark.fault(205, 288)
def test_that_it_did_not_move_is_saved_and_frees_the_order(room: SupportRoom, lost: tuple[str, str]) -> None:
    conversation_id, path = lost
    assert visit(room).post(path, answer="not_moved", note="Not in the list.").status_code == 303
    assert "was not refunded, and no money moved" in lines_of(room, conversation_id)[-1]
    again = body_of(room.chat("Refund A1", calls_refund("A1", 4_999), says("Done.")))
    assert again["refund"]["state"] == "paid"


@pytest.mark.fault(205)
def test_that_it_did_not_move_cannot_be_saved_while_the_request_may_be_on_its_way(
    room: SupportRoom, lost: tuple[str, str]
) -> None:
    assert "may still be on its way" not in text_of(visit(room).get("/console/unknown"))
    age_claims(room, minutes=-2)
    assert "may still be on its way" in text_of(visit(room).get("/console/unknown"))
    page = text_of(visit(room).post(lost[1], answer="not_moved", note="Not in the list."), 409)
    assert "may still be on its way" in page
    assert "Nothing was changed." in page


@pytest.mark.fault(58)
def test_of_two_who_answer_one_wins_and_the_other_reads_what_stands(
    room: SupportRoom, lost: tuple[str, str]
) -> None:
    conversation_id, path = lost
    dana, robin = visit(room, "dana"), visit(room, "robin")
    assert dana.post(path, answer="moved", reference="re-77", note="Seen in the list.").status_code == 303
    page = text_of(robin.post(path, answer="not_moved", note="I see nothing."), 409)
    assert "dana answered at 20" in page
    assert "the money moved, reference re-77. Seen in the list." in page
    assert sum("A colleague has checked" in line for line in lines_of(room, conversation_id)) == 1


def test_what_is_not_unknown_cannot_be_answered(room: SupportRoom) -> None:
    body = body_of(room.chat("Refund A1", calls_refund("A1", 4_999), says("Done.")))
    page = text_of(visit(room).post(f"/console/unknown/{body['turn_id']}", answer="not_moved", note="x"), 409)
    assert "not unknown but paid" in page


@pytest.mark.parametrize(
    "fields",
    [
        {"answer": "moved"},
        {"answer": "moved", "reference": " "},
        {"answer": "moved", "reference": "a\nb"},
        {"answer": "not_moved"},
        {"answer": "not_moved", "note": ""},
        {"note": "x"},
        {"answer": "both", "note": "x"},
    ],
)
def test_an_answer_needs_its_reference_or_its_note(
    room: SupportRoom, lost: tuple[str, str], fields: dict[str, Any]
) -> None:
    text_of(visit(room).post(lost[1], **fields), 422)
    assert len(room.console.inspection.unknown(limit=10)) == 1


def test_an_approved_refund_that_was_lost_names_its_customer_and_conversation(
    room: SupportRoom, approval: str, conversation_id: str
) -> None:
    room.stage.payments.accepts_then_drops_the_answer()
    visitor = visit(room)
    visitor.post(approval, decision="approve", reason="Yes.")
    page = visitor.get("/console/unknown").text
    assert f"/console/conversations/{conversation_id}" in page
    assert "customer=alice" in page
    turn_id = room.console.inspection.unknown(limit=1)[0].record.turn_id
    visitor.post(f"/console/unknown/{turn_id}", answer="moved", reference="re-5")
    assert "Reference: re-5" in lines_of(room, conversation_id)[-1]


# --- Stuck turns ----------------------------------------------------------------------------------


@pytest.fixture
def silent(room: SupportRoom) -> str:
    """A turn whose worker is not heard of any more."""
    conversation_id = room.stage.open("alice")
    turn_id = room.stage.store("Slow one", conversation_id=conversation_id, customer_id="alice")
    assert room.stage.turns.begin(turn_id, owner="gone-worker") is not None
    with room.stage.database.transaction() as tx:
        tx.execute(update(turns).values(lease_until_ms=turns.c.lease_until_ms - 60_000))
    return turn_id


def test_a_stuck_turn_is_shown_with_what_an_operator_asks(room: SupportRoom, silent: str) -> None:
    page = text_of(visit(room).get("/console/stuck"))
    for fact in (silent, "gone-worker not heard of", "1 min ago", "no the turn has not ended"):
        assert fact in page


# --- All of them ----------------------------------------------------------------------------------


def test_the_navigation_counts_what_waits(room: SupportRoom, approval: str, silent: str) -> None:
    room.stage.payments.accepts_then_drops_the_answer()
    room.chat("Refund B1", calls_refund("B1", 100), says("Hm."), by="bob")
    nav = waiting_in(visit(room))
    assert nav.count('class="count') == 3
    visit(room).post(approval, decision="decline", reason="No.")
    assert waiting_in(visit(room)).count('class="count') == 2


def test_whoever_only_reads_sees_everything_and_has_nothing_to_press(
    room: SupportRoom, approval: str, lost: tuple[str, str], silent: str
) -> None:
    sam = visit(room, "sam")
    for path in ("/console/approvals", "/console/unknown", "/console/stuck"):
        page = sam.get(path)
        text_of(page)
        assert page.text.count("<form") == 1, "signing out"
    text_of(sam.post(approval, decision="approve", reason="x"), 403)
    text_of(sam.post(lost[1], answer="not_moved", note="x"), 403)
    assert len(room.stage.approvals.page(state="pending", limit=10)) == 1
    assert len(room.console.inspection.unknown(limit=10)) == 1


@pytest.mark.fault(57)
def test_another_site_s_page_decides_nothing(room: SupportRoom, approval: str, lost: tuple[str, str]) -> None:
    elsewhere = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    dana = visit(room)
    text_of(dana.post(approval, headers=elsewhere, decision="approve", reason="x"), 403)
    text_of(dana.post(lost[1], headers=elsewhere, answer="not_moved", note="x"), 403)
    assert room.stage.payments.requests == [("A1", 4_999)]
    assert len(room.console.inspection.unknown(limit=10)) == 1


def test_when_the_database_is_away_a_reader_is_told_so_and_a_writer_to_look_again(
    room: SupportRoom, approval: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("away")

    dana = visit(room)
    for method in ("page", "decide"):
        monkeypatch.setattr(type(room.stage.approvals), method, away)
    assert "Nothing was changed" in text_of(dana.get("/console/approvals"), 503)
    page = text_of(dana.post(approval, decision="approve", reason="x"), 503)
    assert "look before you repeat it" in page


# --- In a conversation ----------------------------------------------------------------------------


def test_staff_take_a_conversation_write_in_it_and_give_it_back(
    room: SupportRoom, conversation_id: str
) -> None:
    path, dana, robin = f"/console/conversations/{conversation_id}", visit(room), visit(room, "robin")
    assert dana.post(f"{path}/take").headers["Location"] == path
    assert "a person has it" in text_of(robin.post(f"{path}/take"), 409)
    dana.post(f"{path}/messages", text="I am here.")
    dana.post(f"{path}/give-back")
    assert "the agent has it" in text_of(robin.post(f"{path}/give-back"), 409)
    assert lines_of(room, conversation_id)[-3:] == [
        "A colleague has joined the conversation.",
        "I am here.",
        "The assistant answers again.",
    ]


def test_only_who_may_write_does_so_in_a_conversation_and_something_at_all(
    room: SupportRoom, conversation_id: str
) -> None:
    path, before = f"/console/conversations/{conversation_id}", lines_of(room, conversation_id)
    for act in ("take", "give-back", "messages"):
        text_of(visit(room, "sam").post(f"{path}/{act}", text="x"), 403)
        text_of(visit(room).post(f"/console/conversations/{uuid.uuid4()}/{act}", text="x"), 404)
    text_of(visit(room).post(f"{path}/messages", text=" "), 422)
    assert lines_of(room, conversation_id) == before


@pytest.mark.fault(53)
def test_a_ticket_opens_a_turn_s_events_once_and_nothing_else(room: SupportRoom) -> None:
    turn_id = body_of(room.chat("Hello", says("Hi.")))["turn_id"]
    path, sam = f"/support/turns/{turn_id}/events", visit(room, "sam")
    ticket = body_of(sam.post("/console/tickets", path=path))["ticket"]
    stream = room.client.get(f"{path}?ticket={ticket}")
    assert (stream.status_code, stream.mimetype) == (200, "text/event-stream")
    assert room.client.get(f"{path}?ticket={ticket}").status_code == 401
    for other in ("/support/conversations", f"/support/turns/{turn_id}", "/console/stuck", "", path + "/"):
        text_of(sam.post("/console/tickets", path=other), 422)
    text_of(sam.post("/console/tickets", path=path, csrf="x"), 403)


def test_late_evidence_does_not_undo_a_person_s_answer(room: SupportRoom, lost: tuple[str, str]) -> None:
    visit(room).post(lost[1], answer="not_moved", note="Not in the list.")
    turn_id = lost[1].rpartition("/")[2]
    record = room.stage.ledger.find(turn_id)
    assert record is not None
    room.stage.ledger.settle(record, epoch=1, answer=Paid("re-1", "ok", 4_999))
    after = room.stage.ledger.find(turn_id)
    assert after is not None
    assert after.state == "not_sent"
