"""One delivery of a turn's message: it runs the turn once, or does nothing, and never raises."""

from threading import Event, Thread

import pytest
from structlog.contextvars import get_contextvars
from structlog.testing import capture_logs

from refund_agent.outcomes import Broken, BudgetExhausted, DeadlinePassed, Replied, Superseded
from refund_agent.ports import Completed
from refund_agent.runner import DeliveryEnding, LeftForAnother, NothingToDo, Runner
from refund_agent.turn import NewTurn, Turn
from tests.fakes import FakeModel, calls_refund, says
from tests.unit.desk import Desk

fault = pytest.mark.fault
contract = pytest.mark.contract


def test_a_delivered_turn_is_run_ended_and_whoever_waits_is_woken(desk: Desk) -> None:
    desk.store()

    assert desk.deliver(says("done")) == Replied("done")

    row = desk.database.turns["turn-1"]
    assert (row.state, row.outcome, row.owner) == ("ended", Replied("done"), "worker-1")
    assert desk.hints.woken == ["turn-1"]


def test_every_ending_of_the_loop_is_stored(desk: Desk) -> None:
    desk.store()

    assert desk.deliver(*[calls_refund("A1", 500)] * 5) == BudgetExhausted()
    assert desk.database.turns["turn-1"].outcome == BudgetExhausted()


# --- Deliveries that must do nothing --------------------------------------------------------------


@fault(72, 73, 75)
@contract("C44")
def test_a_second_delivery_while_the_first_runs_does_nothing(desk: Desk) -> None:
    desk.store()
    endings: list[DeliveryEnding] = []

    def redelivered_in_mid_turn() -> Completed:
        endings.extend([other_worker(desk).run("turn-1"), other_worker(desk).run("turn-1")])
        return calls_refund("A1", 500)

    assert desk.deliver(redelivered_in_mid_turn, says("done")) == Replied("done")

    assert endings == [NothingToDo(), NothingToDo()]
    assert desk.payments.moved == [("A1", 500)]
    assert desk.database.turns["turn-1"].epoch == 1


@contract("C44")
def test_a_delivery_after_the_turn_has_ended_does_nothing(desk: Desk) -> None:
    desk.store()
    desk.deliver(calls_refund("A1", 500), says("done"))

    assert desk.deliver() == NothingToDo()

    assert desk.payments.moved == [("A1", 500)]
    assert desk.hints.woken == ["turn-1"]


def test_a_turn_that_was_never_stored_does_nothing(desk: Desk) -> None:
    assert desk.deliver(turn_id="forged") == NothingToDo()
    assert desk.database.turns == {}


def test_a_message_that_waited_past_the_deadline_does_nothing(desk: Desk) -> None:
    desk.store()
    desk.clock.sleep(120.0)

    assert desk.deliver() == NothingToDo()
    assert desk.model.asked == []


@contract("C74")
@fault(78)
def test_a_turn_that_the_facade_has_closed_can_never_run(desk: Desk) -> None:
    desk.store()
    desk.turns.give_up("turn-1", DeadlinePassed())

    assert desk.deliver() == NothingToDo()
    assert desk.model.asked == []


# --- Losing the turn, the database, or one's head -------------------------------------------------


def test_a_superseded_worker_neither_ends_the_turn_nor_wakes_anybody(desk: Desk) -> None:
    desk.store()

    def resumed_by_another() -> Completed:
        desk.database.owner_dies("turn-1")
        desk.begin("turn-1", owner="worker-2")
        return says("too late")

    assert desk.deliver(resumed_by_another) == Superseded()

    assert desk.database.turns["turn-1"].outcome is None
    assert desk.hints.woken == []


@pytest.mark.parametrize("outage", ["begin", "checkpoint", "claim", "end", "end!"])
@fault(100)
def test_without_a_database_the_turn_is_left_for_another_and_nothing_is_raised(
    desk: Desk, outage: str
) -> None:
    desk.store()
    desk.database.outages = [outage]

    with capture_logs() as logs:
        assert desk.deliver(calls_refund("A1", 500), says("done")) == LeftForAnother()

    assert [entry["event"] for entry in logs] == ["turn_left_for_another"]
    assert desk.hints.woken == []


def test_a_bug_of_ours_around_a_turn_is_not_raised_to_celery(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.store()

    def breaks(*_: object, **__: object) -> None:
        raise TypeError("a bug")

    monkeypatch.setattr(desk.turns, "end", breaks)

    with capture_logs() as logs:
        assert desk.deliver(says("done")) == LeftForAnother()

    assert [(entry["event"], entry["log_level"]) for entry in logs] == [("turn_left_for_another", "error")]


@fault(102)
@contract("C46")
def test_a_turn_left_with_its_claim_unsettled_is_resumed_and_told_as_unknown(desk: Desk) -> None:
    desk.store()
    desk.database.outages = ["settle"] * 1000
    assert desk.deliver(calls_refund("A1", 500)) == LeftForAnother()

    desk.database.outages = []
    desk.database.owner_dies("turn-1")
    assert desk.deliver(calls_refund("A1", 500), says("we will check")) == Replied("we will check")

    assert desk.payments.requests == [("A1", 500)]
    assert desk.database.refunds["turn-1"].state == "unknown"


@contract("C29")
def test_a_bug_of_ours_ends_the_turn_and_is_not_raised(desk: Desk) -> None:
    desk.store()

    def breaks() -> Completed:
        raise KeyError("a bug")

    with capture_logs() as logs:
        assert desk.deliver(breaks) == Broken("KeyError")

    assert desk.database.turns["turn-1"].outcome == Broken("KeyError")
    assert desk.hints.woken == ["turn-1"]
    assert [(entry["event"], entry["log_level"]) for entry in logs] == [("turn_broken", "error"), ENDED]


ENDED = ("turn_ended", "info")


# --- What the process knows about its turns -------------------------------------------------------


def test_a_turn_is_in_hand_only_while_it_runs(desk: Desk) -> None:
    desk.store()
    seen: list[frozenset[str]] = []
    runner: list[Runner] = []

    def looks() -> Completed:
        seen.append(runner[0].running())
        return says("done")

    desk.model = FakeModel(looks)
    runner.append(other_worker(desk))
    runner[0].run("turn-1")

    assert seen == [{"turn-1"}]
    assert runner[0].running() == frozenset()


def test_a_turn_is_in_hand_from_before_it_is_taken(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.store()
    seen: list[frozenset[str]] = []
    begin = desk.turns.begin

    def held_up_after_begin(turn_id: str, *, owner: str) -> Turn | None:
        turn = begin(turn_id, owner=owner)
        seen.append(runner.running())
        return turn

    monkeypatch.setattr(desk.turns, "begin", held_up_after_begin)
    runner = other_worker(desk)
    runner.run("turn-1")

    assert seen == [frozenset({"turn-1"})]
    assert runner.running() == frozenset()


def test_a_failed_turn_is_no_longer_in_hand(desk: Desk) -> None:
    desk.store()
    desk.database.outages = ["checkpoint"]
    runner = other_worker(desk)

    assert runner.run("turn-1") == LeftForAnother()
    assert runner.running() == frozenset()


@fault(73)
def test_a_process_that_takes_over_its_own_turn_keeps_it_when_its_old_run_ends(desk: Desk) -> None:
    """It could not renew its lease for a while, and then got the turn's message again."""
    desk.store()
    old_waits, old_may_end = Event(), Event()
    seen: list[frozenset[str]] = []

    def answers_the_old_run() -> Completed:
        old_waits.set()
        old_may_end.wait(5)
        return says("too late")

    def answers_the_new_run() -> Completed:
        old_may_end.set()
        old_run.join(5)
        seen.append(runner.running())
        return says("done")

    desk.model = FakeModel(answers_the_old_run, answers_the_new_run)
    runner = other_worker(desk)
    old_run = Thread(target=runner.run, args=("turn-1",))
    old_run.start()
    old_waits.wait(5)
    desk.database.owner_dies("turn-1")

    assert runner.run("turn-1") == Replied("done")
    assert seen == [{"turn-1"}]


def test_log_lines_of_a_turn_carry_the_id_of_its_request(desk: Desk) -> None:
    desk.turns.create(NewTurn("turn-1", "user-1", "hello", request_id="request-9"))
    seen: list[object] = []

    def looks() -> Completed:
        seen.append(get_contextvars()["request_id"])
        return says("done")

    desk.deliver(looks)

    assert seen == ["request-9"]
    assert "request_id" not in get_contextvars()


@contract("C45", "C46")
def test_a_turn_whose_worker_died_goes_on_with_the_next_delivery(desk: Desk) -> None:
    desk.begin("turn-1")
    desk.database.owner_dies("turn-1")

    assert desk.deliver(says("done"), owner="worker-2") == Replied("done")
    assert desk.database.turns["turn-1"].owner == "worker-2"


def other_worker(desk: Desk) -> Runner:
    return Runner(turns=desk.turns, agents={"refund_chat": desk.loop()}, hints=desk.hints, owner="worker-2")
