"""What an operator sees, and the one thing a person may change: an unknown refund, once, sending nothing."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from flask.testing import FlaskCliRunner
from sqlalchemy import update

from refund_agent.adapters.sql_database import now_ms
from refund_agent.adapters.sql_inspection import SqlInspection
from refund_agent.adapters.sql_tables import turns
from refund_agent.inspection import (
    AlreadyResolved,
    NotUnknown,
    PersonsAnswer,
    ResolveAnswer,
    Resolved,
    TooEarly,
)
from refund_agent.outcomes import Claimed, DeadlinePassed, Paid, Replied, Unknown
from tests.integration.conftest import CALL, Stores
from web import commands

MOVED = PersonsAnswer(money_moved=True, resolved_by="ann", note="seen in the payments list", reference="rf-9")
PEOPLE = 8
NOT_MOVED = PersonsAnswer(money_moved=False, resolved_by="bob", note="not in the payments list")


@pytest.fixture
def inspection(stores: Stores) -> SqlInspection:
    return SqlInspection(stores.database)


@pytest.fixture
def flask(inspection: SqlInspection) -> FlaskCliRunner:
    app = Flask("test")
    commands.install(app, inspection)
    return app.test_cli_runner()


def unknown_refund(stores: Stores, order_id: str = "A1") -> str:
    turn, claimed = stores.claimed(order_id)
    stores.ledger.settle(claimed, epoch=turn.epoch, answer=Unknown("ReadTimeout"))
    stores.turns.end(turn, Replied("we are not sure yet"))
    stores.age_claim(turn.id)
    return turn.id


@pytest.mark.fault(205, 288)
def test_a_resolved_refund_frees_its_order_and_sends_nothing(
    stores: Stores, inspection: SqlInspection
) -> None:
    turn_id = unknown_refund(stores, "A1")
    resolved = inspection.resolve(turn_id, NOT_MOVED)
    assert isinstance(resolved, Resolved)
    assert resolved.record.state == "not_sent"
    again = stores.ledger.claim(stores.running(), call=CALL, order_id="A1", amount_cents=500)
    assert isinstance(again, Claimed)
    assert inspection.unknown(limit=10) == []


def test_money_that_moved_is_recorded_with_payments_own_reference(
    stores: Stores, inspection: SqlInspection
) -> None:
    turn_id = unknown_refund(stores)
    inspection.resolve(turn_id, MOVED)
    record = stores.ledger.find(turn_id)
    assert record is not None
    assert (record.state, record.refund_id) == ("paid", "rf-9")


@pytest.mark.fault(205)
def test_that_no_money_moved_cannot_be_answered_while_the_request_may_be_on_its_way(
    stores: Stores, inspection: SqlInspection, flask: FlaskCliRunner
) -> None:
    turn, claimed = stores.claimed()
    stores.ledger.settle(claimed, epoch=turn.epoch, answer=Unknown("ReadTimeout"))

    early = inspection.resolve(turn.id, NOT_MOVED)
    assert isinstance(early, TooEarly)
    assert 25 < early.wait_seconds <= 30
    said = ["refunds", "resolve", turn.id, "--not-moved", "--by", "bob", "--note", "not in the list"]
    refused = flask.invoke(args=said)
    assert (refused.exit_code, "may still be on its way" in refused.output) == (1, True)
    record = stores.ledger.find(turn.id)
    assert record is not None
    assert record.state == "unknown"

    stores.age_claim(turn.id)
    assert isinstance(inspection.resolve(turn.id, NOT_MOVED), Resolved)


def test_that_the_money_moved_can_be_answered_at_once(stores: Stores, inspection: SqlInspection) -> None:
    turn, claimed = stores.claimed()
    stores.ledger.settle(claimed, epoch=turn.epoch, answer=Unknown("ReadTimeout"))
    assert isinstance(inspection.resolve(turn.id, MOVED), Resolved)


@pytest.mark.fault(58)
def test_of_two_people_who_answer_one_wins_and_the_other_is_told(
    stores: Stores, inspection: SqlInspection
) -> None:
    turn_id = unknown_refund(stores)
    assert isinstance(inspection.resolve(turn_id, MOVED), Resolved)
    second = inspection.resolve(turn_id, NOT_MOVED)
    assert isinstance(second, AlreadyResolved)
    assert (second.record.state, second.resolved_by) == ("paid", "ann")


def test_only_an_unknown_refund_can_be_resolved(stores: Stores, inspection: SqlInspection) -> None:
    turn, claimed = stores.claimed()
    assert inspection.resolve(turn.id, MOVED) == NotUnknown("claimed")
    stores.ledger.settle(claimed, epoch=turn.epoch, answer=Paid("rf-1", "ok", 500))
    assert inspection.resolve(turn.id, NOT_MOVED) == NotUnknown("paid")
    assert inspection.resolve("no-such-turn", MOVED) == NotUnknown("no refund")


@pytest.mark.fault(283)
def test_a_claim_that_no_living_worker_has_settled_is_in_doubt_and_listed(
    stores: Stores, inspection: SqlInspection, flask: FlaskCliRunner
) -> None:
    """The facade has told its caller "unknown" and only a worker's sweeper would say so in the ledger."""
    turn, _ = stores.claimed()
    stores.turns.give_up(turn.id, DeadlinePassed())
    assert inspection.unknown(limit=10) == []
    stores.age_claim(turn.id)

    assert [one.record.state for one in inspection.unknown(limit=10)] == ["claimed"]
    listed = flask.invoke(args=["refunds", "unknown"])
    assert (listed.exit_code, "no worker has settled it" in listed.output) == (1, True)
    said = ["refunds", "resolve", turn.id, "--not-moved", "--by", "bob", "--note", "not in the list"]
    refused = flask.invoke(args=said)
    assert (refused.exit_code, "See that one runs" in refused.output) == (1, True)


def test_a_receipt_that_came_after_somebody_said_no_shows_and_nothing_is_sent_again(
    stores: Stores, inspection: SqlInspection, flask: FlaskCliRunner
) -> None:
    turn, claimed = stores.claimed()
    stores.age_claim(turn.id)
    stores.silence_owner_of(turn.id)
    stores.sweeps.lapse_claims()
    assert isinstance(inspection.resolve(turn.id, NOT_MOVED), Resolved)
    stores.turns.give_up(turn.id, DeadlinePassed())
    stores.ledger.settle(claimed, epoch=turn.epoch, answer=Paid("rf-7", "ok", 500))

    shown = flask.invoke(args=["turns", "show", turn.id]).output
    assert "rf-7" in shown
    assert "no: payments' receipt came after somebody had answered that no money moved" in shown


def test_a_silent_worker_and_a_passed_deadline_show_as_stuck(
    stores: Stores, inspection: SqlInspection
) -> None:
    silent, overdue, fine = stores.running(), stores.running(), stores.running()
    stores.silence_owner_of(silent.id)
    stores.pass_deadline_of(overdue.id)
    assert {found.turn.id for found in inspection.stuck(limit=10)} == {silent.id, overdue.id}
    assert all(found.is_stuck for found in inspection.stuck(limit=10))
    found = inspection.turn(fine.id)
    assert found is not None
    assert not found.is_stuck


def test_a_turn_that_a_sweeper_is_about_to_end_is_not_stuck(
    stores: Stores, inspection: SqlInspection, flask: FlaskCliRunner
) -> None:
    turn = stores.running()
    with stores.database.transaction() as tx:
        tx.execute(update(turns).values(deadline_at_ms=now_ms() - 1_000))
    found = inspection.turn(turn.id)
    assert found is not None
    assert (found.is_stuck, inspection.stuck(limit=10)) == (False, [])


@pytest.mark.parametrize("ending", ["ended", "handed over"])
def test_the_lease_of_a_turn_that_no_worker_has_is_nobodys(
    stores: Stores, flask: FlaskCliRunner, ending: str
) -> None:
    turn = stores.running("w1")
    if ending == "ended":
        stores.turns.end(turn, Replied("hello"))
    else:
        stores.sweeps.release([turn.id], owner="w1")
    assert "lease: nobody has it" in flask.invoke(args=["turns", "show", turn.id]).output


@pytest.mark.parametrize(
    ("state", "safe"), [("running", False), ("unknown", False), ("paid", False), ("ended", True)]
)
def test_sending_again_is_safe_only_when_the_turn_ended_and_no_money_moved(
    stores: Stores, inspection: SqlInspection, *, state: str, safe: bool
) -> None:
    turn = stores.running()
    match state:
        case "unknown":
            turn_id = unknown_refund(stores)
        case "paid":
            turn_id = unknown_refund(stores)
            inspection.resolve(turn_id, MOVED)
        case "ended":
            stores.turns.end(turn, Replied("hello"))
            turn_id = turn.id
        case _:
            turn_id = turn.id
    found = inspection.turn(turn_id)
    assert found is not None
    assert found.send_again().is_safe is safe


def test_the_commands_tell_what_is_stuck_and_unknown(stores: Stores, flask: FlaskCliRunner) -> None:
    turn = stores.running()
    assert flask.invoke(args=["turns", "stuck"]).exit_code == 0
    stores.silence_owner_of(turn.id)
    stuck = flask.invoke(args=["turns", "stuck"])
    assert (stuck.exit_code, turn.id in stuck.output) == (1, True)
    assert "no: the turn has not ended" in flask.invoke(args=["turns", "show", turn.id]).output
    assert turn.id in flask.invoke(args=["turns", "ls"]).output
    assert turn.id in flask.invoke(args=["turns", "tail", "--count", "1"]).output
    turn_id = unknown_refund(stores)
    listed = flask.invoke(args=["refunds", "unknown"])
    assert (listed.exit_code, turn_id in listed.output) == (1, True)


def test_resolving_by_command_needs_who_why_and_the_reference(stores: Stores, flask: FlaskCliRunner) -> None:
    turn_id = unknown_refund(stores)
    said = ["refunds", "resolve", turn_id, "--moved", "--by", "ann", "--note", "seen in the list"]
    assert flask.invoke(args=said).exit_code == 2
    assert flask.invoke(args=["refunds", "resolve", turn_id, "--moved"]).exit_code == 2
    done = flask.invoke(args=[*said, "--reference", "rf-9"])
    assert (done.exit_code, "Nothing was sent" in done.output) == (0, True)
    again = flask.invoke(args=[*said, "--reference", "rf-9"])
    assert (again.exit_code, "already resolved as paid by ann" in again.output) == (1, True)


@pytest.mark.parametrize("which", ["--by", "--note", "--reference"])
@pytest.mark.parametrize("text", ["\udcff", "\x00", " "])
def test_resolving_by_command_takes_only_words_that_can_be_kept(
    stores: Stores, flask: FlaskCliRunner, which: str, text: str
) -> None:
    turn_id = unknown_refund(stores)
    words = {"--by": "ann", "--note": "seen in the list", "--reference": "rf-9", which: text}
    given = [part for option in words.items() for part in option]
    assert flask.invoke(args=["refunds", "resolve", turn_id, "--moved", *given]).exit_code == 2
    assert [one.record.turn_id for one in SqlInspection(stores.database).unknown(limit=10)] == [turn_id]


@pytest.mark.fault(58)
def test_of_many_people_who_answer_at_once_one_wins_and_all_read_the_same(
    stores: Stores, inspection: SqlInspection
) -> None:
    turn_id, start = unknown_refund(stores), threading.Barrier(PEOPLE)

    def answer(number: int) -> ResolveAnswer:
        start.wait(timeout=10)
        return inspection.resolve(turn_id, MOVED if number % 2 else NOT_MOVED)

    with ThreadPoolExecutor(PEOPLE) as pool:
        answers = list(pool.map(answer, range(PEOPLE)))
    (won,) = [answer for answer in answers if isinstance(answer, Resolved)]
    lost = [answer for answer in answers if isinstance(answer, AlreadyResolved)]
    assert len(lost) == PEOPLE - 1
    assert {answer.record for answer in lost} == {won.record}
