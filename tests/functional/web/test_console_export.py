"""Exports: what they hide, who may be shown it, that it is recorded first, and that no cell is a formula."""

import csv
import io
import json
import uuid
from typing import Any

import pytest

from refund_agent.adapters.sql_casebook import SqlCasebook
from refund_agent.adapters.sql_reveals import SqlReveals
from refund_agent.ports import StoreUnavailable
from tests.fakes import calls_refund, says
from tests.functional.web.console_room import text_of, visit
from tests.functional.web.support_room import SupportRoom, body_of
from web.console import export
from web.console.export_files import Cut, write

LIST = "/console/conversations/export"
SECRETS = ("alice", "A1", "re-1", "kettle", "49.99")


@pytest.fixture
def conversation_id(room: SupportRoom) -> str:
    said = room.chat("The kettle leaks, refund A1", calls_refund("A1", 4_999), says("Done."))
    return str(body_of(said)["conversation_id"])


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_export_hides_who_and_what_it_is_about(room: SupportRoom, conversation_id: str, form: str) -> None:
    sam = visit(room, "sam")
    for path in (LIST, f"/console/conversations/{conversation_id}/export"):
        answer = sam.get(f"{path}?format={form}")
        assert answer.status_code == 200
        assert answer.headers["Content-Disposition"].startswith("attachment")
        assert [secret for secret in SECRETS if secret in answer.text] == []
        assert "4999" in answer.text
    assert room.console.reveals.recent(limit=9) == []


def test_a_hidden_name_is_the_same_throughout_a_file_and_another_in_the_next(
    room: SupportRoom, conversation_id: str
) -> None:
    room.chat("Hello", says("Hi."))
    room.chat("Hello", says("Hi."), by="bob")
    sam = visit(room, "sam")
    first, second = (
        [one["customer"] for one in records(sam.get(LIST).text) if one["record"] == "row"] for _ in range(2)
    )
    assert first[1] == first[2] != first[0]
    assert not set(first) & set(second)


def test_the_filters_of_the_list_are_those_of_its_export(room: SupportRoom, conversation_id: str) -> None:
    room.chat("Hello", says("Hi."))
    sam = visit(room, "sam")
    about, *found, end = records(sam.get(f"{LIST}?refund=paid&q=kettle&customer=alice").text)
    assert [one["id"] for one in found] == [conversation_id]
    assert about["note"]["sought"]["refund"] == "paid"
    assert about["note"]["sought"]["words"] == "[6 characters]"
    assert about["note"]["sought"]["customer_id"].startswith("customer-")
    assert end["note"] == {"rows": 1, "is_whole": True}
    text_of(sam.get(f"{LIST}?refund=none"), 422)
    text_of(sam.get(f"{LIST}?format=xml"), 422)


def test_whoever_may_write_can_reveal_it_and_that_is_recorded(
    room: SupportRoom, conversation_id: str
) -> None:
    dana = visit(room)
    answer = dana.post(f"{LIST}?refund=paid&format=jsonl")
    (row,) = [one for one in records(answer.text) if one["record"] == "row"]
    assert (row["customer"], row["said"]) == ("alice", "The kettle leaks, refund A1")
    assert row["refunds"] == [{"state": "paid", "amount_cents": 4_999, "order": "A1", "reference": "re-1"}]
    dana.post(f"/console/conversations/{conversation_id}/export?format=csv")
    page = text_of(visit(room, "sam").get("/console/reveals"))
    assert f"Dana dana conversations/{conversation_id}" in page
    assert "conversations?refund=paid" in page


def test_whoever_only_reads_is_shown_nothing_hidden(room: SupportRoom, conversation_id: str) -> None:
    sam = visit(room, "sam")
    text_of(sam.post(f"{LIST}?format=jsonl"), 403)
    text_of(sam.post(f"/console/conversations/{conversation_id}/export?format=csv"), 403)
    assert "Reveal" not in sam.get("/console/conversations").text.replace("/console/reveals", "")
    answer = sam.get(f"{LIST}?reveal=1")
    assert "alice" not in answer.text
    assert room.console.reveals.recent(limit=9) == []


@pytest.mark.fault(57)
def test_another_site_s_page_reveals_nothing(room: SupportRoom, conversation_id: str) -> None:
    dana = visit(room)
    text_of(dana.post(f"{LIST}?format=csv", headers={"Origin": "https://evil.example"}), 403)
    text_of(dana.post(f"{LIST}?format=csv", csrf=""), 403)
    assert room.console.reveals.recent(limit=9) == []


def test_what_cannot_be_recorded_is_not_revealed(
    room: SupportRoom, conversation_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(SqlReveals, "record", away)
    answer = visit(room).post(f"{LIST}?format=jsonl")
    text_of(answer, 503)
    assert "kettle" not in answer.text


def test_a_conversation_that_is_not_there_is_not_exported_nor_recorded(room: SupportRoom) -> None:
    text_of(visit(room).post(f"/console/conversations/{uuid.uuid4()}/export?format=csv"), 404)
    assert room.console.reveals.recent(limit=9) == []


@pytest.mark.fault(63)
@pytest.mark.parametrize("begins", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_is_a_formula(room: SupportRoom, begins: str) -> None:
    formula = f'{begins}HYPERLINK("http://evil.example","x")'
    row: dict[str, object] = {"text": formula, "customer": formula}
    _, cells, _ = rows("".join(write("csv", ("text", "customer"), {}, [row])))
    assert cells["text"] == cells["customer"] == f"'{formula}"


@pytest.mark.fault(63)
def test_what_a_customer_wrote_is_one_cell_whatever_is_in_it(room: SupportRoom) -> None:
    hostile = '=1+1,"two"\nthree;four'
    room.chat(hostile, says("Hm."))
    (row,) = [one for one in rows(visit(room).post(f"{LIST}?format=csv").text) if one["record"] == "row"]
    assert row["said"] == f"'{hostile}"


def test_a_file_says_how_many_rows_it_may_have_and_that_it_was_cut(
    room: SupportRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "MAX_ROWS", 3)
    monkeypatch.setattr(export, "PAGE_SIZE", 2)
    for _ in range(5):
        room.stage.open("alice")
    for form, read in (("jsonl", records), ("csv", rows)):
        about, *found, end = read(visit(room, "sam").get(f"{LIST}?format={form}").text)
        assert len(found) == 3
        notes = [json.loads(n) if isinstance(n, str) else n for n in (about["note"], end["note"])]
        assert notes[0]["rows_at_most"] == 3
        assert notes[1] == {"rows": 3, "is_whole": False, "cut": "there is more than one file may have"}


def test_a_list_longer_than_a_page_is_exported_whole(
    room: SupportRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "PAGE_SIZE", 2)
    opened = {room.stage.open("alice") for _ in range(5)}
    _, *found, end = records(visit(room, "sam").get(LIST).text)
    assert {one["id"] for one in found} == opened
    assert end["note"] == {"rows": 5, "is_whole": True}


def test_a_file_that_the_database_did_not_let_finish_says_so(
    room: SupportRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "PAGE_SIZE", 1)
    for _ in range(3):
        room.stage.open("alice")
    sam, whole = visit(room, "sam"), SqlCasebook.page

    def page(self: SqlCasebook, kind: Any, sought: Any, *, before: Any, limit: int) -> Any:
        if before is not None:
            raise StoreUnavailable("away")
        return whole(self, kind, sought, before=before, limit=limit)

    monkeypatch.setattr(SqlCasebook, "page", page)
    _, *found, end = records(sam.get(LIST).text)
    assert len(found) == 1
    assert end["note"] == {"rows": 1, "is_whole": False, "cut": "the database did not answer"}


def test_a_cut_ends_the_file() -> None:
    found = records("".join(write("jsonl", (), {}, [{"a": 1}, Cut("enough"), {"a": 2}])))
    assert [one["record"] for one in found] == ["about", "row", "end"]
