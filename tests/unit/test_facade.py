"""What a waiting request does, and that its last word about money is what the gate says."""

import pytest

from refund_agent.facade import GIVE_UP_PAUSE_SECONDS, GIVE_UP_TRIES, NotStored, Unreadable
from refund_agent.outcomes import DeadlinePassed, NotAccepted, RefundRecord, Replied, Superseded
from refund_agent.ports import Completed
from refund_agent.runner import NothingToDo
from refund_agent.turn import TurnRecord
from tests.fakes import calls_refund, says
from tests.unit.counter import Counter, ended
from tests.unit.desk import Desk

fault = pytest.mark.fault
contract = pytest.mark.contract


@pytest.fixture
def counter(desk: Desk) -> Counter:
    return Counter(desk)


# --- The good way ---------------------------------------------------------------------------------


@contract("C1", "C13")
def test_one_request_waits_for_its_turn_and_gets_its_ending(counter: Counter, desk: Desk) -> None:
    answer = counter.ask(lambda: desk.deliver(calls_refund("A1", 500), says("done")))

    assert ended(answer).outcome == Replied("done")
    assert answer == desk.turns.find("turn-1")
    assert counter.queue.queued == ["turn-1"]
    assert desk.payments.moved == [("A1", 500)]


def test_the_seat_is_taken_before_the_turn_is_queued_so_no_wake_up_is_missed(
    counter: Counter, desk: Desk
) -> None:
    taken: list[str] = []
    counter.queue.before = lambda: taken.extend(counter.room.taken)

    counter.ask(lambda: desk.deliver(says("done")))

    assert taken == ["turn-1"]
    assert counter.room.left == ["turn-1"]


def test_the_turn_is_stored_before_it_is_queued(counter: Counter, desk: Desk) -> None:
    states: list[str] = []
    counter.queue.before = lambda: states.append(desk.database.turns["turn-1"].state)

    counter.ask(lambda: states.append(desk.database.turns["turn-1"].state))

    assert states == ["stored", "queued"]


def test_a_worker_may_be_faster_than_the_note_that_the_turn_is_queued(counter: Counter, desk: Desk) -> None:
    desk.database.outages = ["mark_queued"]

    answer = counter.ask(lambda: desk.deliver(says("done")))

    assert ended(answer).outcome == Replied("done")


def test_a_wake_up_is_only_a_hint(counter: Counter, desk: Desk) -> None:
    def nothing() -> None:
        pass

    answer = counter.ask(nothing, nothing, lambda: desk.deliver(says("done")))

    assert ended(answer).outcome == Replied("done")
    assert len(counter.room.waits) == 3


def test_a_read_that_fails_while_waiting_is_read_again(counter: Counter, desk: Desk) -> None:
    desk.database.outages = ["find", "find"]

    answer = counter.ask(lambda: None, lambda: desk.deliver(says("done")), lambda: None)

    assert ended(answer).outcome == Replied("done")


@fault(32)
def test_two_messages_of_the_same_text_are_two_turns(counter: Counter, desk: Desk) -> None:
    counter.ask(lambda: desk.deliver(says("one")), turn_id="turn-1")
    counter.ask(lambda: desk.deliver(says("two"), turn_id="turn-2"), turn_id="turn-2")

    assert counter.queue.queued == ["turn-1", "turn-2"]


# --- The database or the broker is away -----------------------------------------------------------


@pytest.mark.parametrize("outage", ["create", "create!"], ids=["not-written", "written-and-answer-lost"])
@contract("C74")
def test_a_turn_that_was_not_surely_stored_is_never_queued(counter: Counter, desk: Desk, outage: str) -> None:
    desk.database.outages = [outage]

    assert counter.ask() == NotStored()

    assert counter.queue.queued == []
    assert counter.room.taken == []


@pytest.mark.parametrize("keeps", [False, True], ids=["message-lost", "message-queued-all-the-same"])
@contract("C74")
@fault(78, 79)
def test_a_turn_that_was_not_surely_queued_can_never_run(counter: Counter, desk: Desk, keeps: bool) -> None:  # noqa: FBT001 - a case of the test
    counter.queue.is_away, counter.queue.keeps = True, keeps
    before = desk.clock.now

    answer = ended(counter.ask())

    assert answer.outcome == NotAccepted()
    assert answer.refund == RefundRecord("turn-1", "closed")
    assert desk.clock.now == before
    assert desk.deliver() == NothingToDo()
    assert desk.payments.requests == []


def test_a_copy_that_ran_before_the_broker_error_was_seen_has_the_last_word(
    counter: Counter, desk: Desk
) -> None:
    counter.queue.is_away = True
    counter.queue.before = lambda: desk.deliver(calls_refund("A1", 500), says("done"))

    answer = ended(counter.ask())

    assert answer.outcome == Replied("done")
    assert answer.refund is not None
    assert answer.refund.state == "paid"


def test_with_broker_and_database_away_the_answer_comes_at_once_and_claims_nothing(
    counter: Counter, desk: Desk
) -> None:
    counter.queue.is_away = True
    desk.database.outages = ["give_up"]
    before = desk.clock.now

    assert counter.ask() == Unreadable("turn-1")
    assert desk.clock.now == before


# --- The deadline ---------------------------------------------------------------------------------


@contract("C71")
def test_when_the_deadline_passes_first_the_gate_is_closed_and_no_refund_can_follow(
    counter: Counter, desk: Desk
) -> None:
    answer = ended(counter.ask())

    assert answer.outcome == DeadlinePassed()
    assert answer.refund == RefundRecord("turn-1", "closed")
    assert sum(desk.clock.slept) == 120.0
    assert desk.deliver(calls_refund("A1", 500)) == NothingToDo()
    assert desk.payments.requests == []


@contract("C71", "C75")
def test_a_deadline_in_mid_send_tells_that_a_refund_was_attempted(counter: Counter, desk: Desk) -> None:
    told: list[TurnRecord] = []

    def gives_up_while_payments_is_asked() -> None:
        told.append(ended(desk.turns.give_up("turn-1", DeadlinePassed())))

    desk.payments.before = gives_up_while_payments_is_asked
    desk.store()
    assert desk.deliver(calls_refund("A1", 500)) == Superseded()

    assert told[0].outcome == DeadlinePassed()
    assert told[0].refund == RefundRecord("turn-1", "claimed", "A1", 500, "1.0")
    assert desk.database.refunds["turn-1"].state == "paid"
    assert len(desk.model.asked) == 1


@contract("C71")
def test_a_worker_that_would_claim_after_the_deadline_stops(counter: Counter, desk: Desk) -> None:
    def answers_after_the_facade_gave_up() -> Completed:
        desk.turns.give_up("turn-1", DeadlinePassed())
        return calls_refund("A1", 500)

    desk.store()

    assert desk.deliver(answers_after_the_facade_gave_up) == Superseded()
    assert desk.payments.requests == []
    assert desk.database.refunds["turn-1"].state == "closed"


def test_a_turn_that_ends_in_the_last_moment_has_the_last_word(counter: Counter, desk: Desk) -> None:
    def ends_unseen_as_the_time_runs_out() -> None:
        desk.deliver(says("just in time"))
        desk.clock.now += 120.0
        desk.database.outages = ["find"]

    assert ended(counter.ask(ends_unseen_as_the_time_runs_out)).outcome == Replied("just in time")


def test_giving_up_outlasts_a_short_outage(counter: Counter, desk: Desk) -> None:
    desk.database.outages = ["give_up"] * (GIVE_UP_TRIES - 1)

    assert ended(counter.ask()).outcome == DeadlinePassed()
    assert desk.clock.slept[1:] == [GIVE_UP_PAUSE_SECONDS] * (GIVE_UP_TRIES - 1)


def test_a_longer_outage_is_told_as_not_knowing(counter: Counter, desk: Desk) -> None:
    desk.database.outages = ["give_up"] * GIVE_UP_TRIES

    assert counter.ask() == Unreadable("turn-1")


def test_whoever_waits_is_not_kept_longer_by_a_database_that_is_slow_to_fail(
    counter: Counter, desk: Desk
) -> None:
    def three_seconds_pass() -> None:
        desk.clock.now += 3.0

    desk.database.outages = ["give_up"] * GIVE_UP_TRIES
    desk.clock.before = three_seconds_pass

    assert counter.ask(lambda: None, lambda: None) == Unreadable("turn-1")
    assert len(desk.database.outages) == GIVE_UP_TRIES - 2, "asked at once, and a last time when too late"


def test_no_wait_is_longer_than_what_is_left_and_the_seat_is_always_given_back(
    counter: Counter, desk: Desk
) -> None:
    def half_of_the_time_passes() -> None:
        desk.clock.now += 60.0

    counter.ask(half_of_the_time_passes)

    assert counter.room.waits == [120.0, 60.0]
    assert counter.room.left == ["turn-1"]
