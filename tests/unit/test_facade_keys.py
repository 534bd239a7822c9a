"""Requests with an idempotency key, requests that do not wait, and a process that has to stop."""

from typing import Any

import pytest

from refund_agent.facade import KeyUnreadable, NotStored, Replayed, Started, StillRunning, Unreadable
from refund_agent.outcomes import DeadlinePassed, KeyReused, NotAccepted, RefundRecord, Replied
from refund_agent.turn import NewTurn
from tests.fakes import calls_refund, says
from tests.unit.counter import Counter, ended
from tests.unit.desk import Desk

fault = pytest.mark.fault

KEY: dict[str, Any] = {"idempotency_key": "key-1", "fingerprint": "body-1"}
OTHER_BODY: dict[str, Any] = {"idempotency_key": "key-1", "fingerprint": "body-2"}


@pytest.fixture
def counter(desk: Desk) -> Counter:
    return Counter(desk)


# --- One key --------------------------------------------------------------------------------------


@fault(26, 34)
def test_a_second_request_with_the_key_joins_the_running_turn(counter: Counter, desk: Desk) -> None:
    desk.turns.create(NewTurn("turn-1", "user-1", "refund 5.00 for A1", **KEY))

    answer = counter.ask(lambda: desk.deliver(calls_refund("A1", 500), says("done")), turn_id="turn-2", **KEY)

    assert ended(answer).id == "turn-1"
    assert list(desk.database.turns) == ["turn-1"]
    assert counter.queue.queued == []
    assert counter.room.taken == counter.room.left == ["turn-1"]
    assert desk.payments.moved == [("A1", 500)]


@fault(27)
def test_a_second_request_after_the_end_is_given_what_became_of_the_first(
    counter: Counter, desk: Desk
) -> None:
    first = ended(counter.ask(lambda: desk.deliver(calls_refund("A1", 500), says("done")), **KEY))

    assert counter.ask(turn_id="turn-2", **KEY) == Replayed(first)
    assert counter.queue.queued == ["turn-1"]
    assert desk.payments.moved == [("A1", 500)]


def test_a_deadline_that_passed_is_replayed_too_and_nothing_is_run_again(counter: Counter) -> None:
    first = ended(counter.ask(**KEY))

    assert first.outcome == DeadlinePassed()
    assert counter.ask(turn_id="turn-2", **KEY) == Replayed(first)


@fault(28)
def test_the_key_with_another_body_is_refused_and_nothing_is_stored(counter: Counter, desk: Desk) -> None:
    counter.ask(lambda: desk.deliver(says("done")), **KEY)

    assert counter.ask(turn_id="turn-2", **OTHER_BODY) == KeyReused()
    assert list(desk.database.turns) == ["turn-1"]


def test_a_turn_that_was_not_accepted_frees_its_key(counter: Counter, desk: Desk) -> None:
    counter.queue.is_away = True
    assert ended(counter.ask(**KEY)).outcome == NotAccepted()
    counter.queue.is_away = False

    again = counter.ask(lambda: desk.deliver(says("done"), turn_id="turn-2"), turn_id="turn-2", **KEY)

    assert ended(again).id == "turn-2"


def test_a_turn_that_ends_as_the_second_request_joins_is_not_waited_for(counter: Counter, desk: Desk) -> None:
    desk.turns.create(NewTurn("turn-1", "user-1", "hello", **KEY))
    desk.deliver(says("done"))

    assert isinstance(counter.ask(turn_id="turn-2", **KEY), Replayed)
    assert counter.room.waits == []


# --- Not waiting ----------------------------------------------------------------------------------


def test_a_started_turn_is_queued_and_not_waited_for(counter: Counter, desk: Desk) -> None:
    assert counter.facade.start(NewTurn("turn-1", "user-1", "hello")) == Started("turn-1")

    assert counter.queue.queued == ["turn-1"]
    assert counter.room.taken == []
    assert desk.deliver(says("done")) == Replied("done")


def test_starting_it_again_with_its_key_starts_nothing(counter: Counter, desk: Desk) -> None:
    counter.facade.start(NewTurn("turn-1", "user-1", "hello", **KEY))

    assert counter.facade.start(NewTurn("turn-2", "user-1", "hello", **KEY)) == Started("turn-1")
    desk.deliver(says("done"))
    assert isinstance(counter.facade.start(NewTurn("turn-3", "user-1", "hello", **KEY)), Replayed)

    assert counter.queue.queued == ["turn-1"]
    assert counter.facade.start(NewTurn("turn-4", "user-1", "hello", **OTHER_BODY)) == KeyReused()


@fault(78, 79)
def test_a_turn_that_could_not_be_started_surely_can_never_run(counter: Counter, desk: Desk) -> None:
    counter.queue.is_away = counter.queue.keeps = True

    answer = counter.facade.start(NewTurn("turn-1", "user-1", "hello"))

    assert not isinstance(answer, Started)
    assert ended(answer).refund == RefundRecord("turn-1", "closed")


def test_a_turn_that_was_not_surely_stored_is_not_started(counter: Counter, desk: Desk) -> None:
    desk.database.outages = ["create!"]

    assert counter.facade.start(NewTurn("turn-1", "user-1", "hello")) == NotStored()
    assert counter.queue.queued == []


@pytest.mark.parametrize("failing", ["create", "create!"])
def test_a_retry_that_finds_no_database_is_not_told_that_nothing_was_refunded(
    counter: Counter, desk: Desk, failing: str
) -> None:
    """Its key's turn may have paid: only the database could say."""
    counter.ask(lambda: desk.deliver(calls_refund("A1", 500), says("done")), **KEY)
    assert desk.payments.moved == [("A1", 500)]

    desk.database.outages = [failing, failing]
    assert counter.ask(turn_id="turn-2", **KEY) == KeyUnreadable()
    assert counter.facade.start(NewTurn("turn-3", "user-1", "hello", **KEY)) == KeyUnreadable()
    assert counter.queue.queued == ["turn-1"]


def test_a_turn_can_be_looked_up_while_the_database_answers(counter: Counter, desk: Desk) -> None:
    desk.store()

    assert counter.facade.find("turn-1") == desk.turns.find("turn-1")
    assert counter.facade.find("turn-9") is None
    desk.database.outages = ["find"]
    assert counter.facade.find("turn-1") == Unreadable("turn-1")


# --- Stopping -------------------------------------------------------------------------------------


def test_a_request_that_waits_when_the_process_stops_is_answered_with_what_the_gate_says(
    counter: Counter, desk: Desk
) -> None:
    def the_process_is_told_to_stop() -> None:
        counter.room.closing = True

    before = desk.clock.now
    answer = ended(counter.ask(the_process_is_told_to_stop))

    assert answer.outcome == DeadlinePassed()
    assert answer.refund == RefundRecord("turn-1", "closed")
    assert desk.clock.now == before


def test_a_turn_that_ended_in_the_moment_of_stopping_has_the_last_word(counter: Counter, desk: Desk) -> None:
    def ends_as_the_process_is_told_to_stop() -> None:
        desk.deliver(says("just in time"))
        counter.room.closing = True

    assert ended(counter.ask(ends_as_the_process_is_told_to_stop)).outcome == Replied("just in time")


def test_a_joined_turn_that_ended_in_the_moment_of_stopping_has_the_last_word(
    counter: Counter, desk: Desk
) -> None:
    def ends_as_the_process_is_told_to_stop() -> None:
        desk.deliver(says("just in time"))
        counter.room.closing = True

    desk.turns.create(NewTurn("turn-1", "user-1", "refund 5.00 for A1", **KEY))

    answer = ended(counter.ask(ends_as_the_process_is_told_to_stop, turn_id="turn-2", **KEY))
    assert answer.outcome == Replied("just in time")


def test_a_request_that_only_joined_leaves_the_turn_to_its_owner_when_its_process_stops(
    counter: Counter, desk: Desk
) -> None:
    def the_process_is_told_to_stop() -> None:
        counter.room.closing = True

    desk.turns.create(NewTurn("turn-1", "user-1", "refund 5.00 for A1", **KEY))

    assert counter.ask(the_process_is_told_to_stop, turn_id="turn-2", **KEY) == StillRunning("turn-1")
    assert isinstance(desk.deliver(calls_refund("A1", 500), says("done")), Replied)


def test_a_request_that_only_joined_ends_the_turn_when_its_time_is_over(counter: Counter, desk: Desk) -> None:
    desk.turns.create(NewTurn("turn-1", "user-1", "refund 5.00 for A1", **KEY))

    assert ended(counter.ask(turn_id="turn-2", **KEY)).outcome == DeadlinePassed()
