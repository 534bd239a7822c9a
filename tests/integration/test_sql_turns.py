"""The turns table: taken once, fenced by epoch, resumed whole."""

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection

from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_turns import SqlTurns
from refund_agent.outcomes import (
    Broken,
    BudgetExhausted,
    DeadlinePassed,
    NotAccepted,
    Paid,
    ProviderFailed,
    ProviderTimedOut,
    Replied,
    TurnOutcome,
)
from refund_agent.turn import AssistantMessage, NewTurn, ToolCall, ToolResult, UserMessage
from tests.fakes import FakeClock
from tests.integration.conftest import Stores


class SlowDatabase(Database):
    """Commits at once, and then takes its time to say so."""

    def __init__(self, database: Database, clock: FakeClock, *, seconds: float) -> None:
        self.is_postgresql = database.is_postgresql
        self._database = database
        self._clock = clock
        self._seconds = seconds

    @contextmanager
    def statement(self, *, read_only: bool = False) -> Generator[Connection]:
        with self._database.statement() as connection:
            yield connection
        self._clock.sleep(self._seconds)


def test_a_stored_turn_can_begin_before_it_is_marked_queued(stores: Stores) -> None:
    turn_id = stores.stored()
    turn = stores.turns.begin(turn_id, owner="w1")
    assert turn is not None
    assert turn.messages == [UserMessage("refund 5.00 for order A1")]
    stores.turns.mark_queued(turn_id)
    found = stores.turns.find(turn_id)
    assert found is not None
    assert found.state == "running"


def test_a_slow_answer_of_the_database_does_not_postpone_the_deadline(database: Database) -> None:
    clock = FakeClock()
    slow = SqlTurns(
        SlowDatabase(database, clock, seconds=7.0), clock=clock, deadline_seconds=120, lease_seconds=15
    )
    slow.create(NewTurn("turn-1", "user-1", "refund 5.00 for order A1"))
    asked_at = clock.now
    turn = slow.begin("turn-1", owner="w1")
    assert turn is not None
    assert turn.deadline <= asked_at + 120


@pytest.mark.fault(72, 75)
def test_of_many_deliveries_at_once_one_begins(stores: Stores) -> None:
    turn_id = stores.stored()
    with ThreadPoolExecutor(10) as pool:
        begun = list(pool.map(lambda i: stores.turns.begin(turn_id, owner=f"w{i}"), range(10)))
    assert sum(turn is not None for turn in begun) == 1


def test_a_turn_that_was_never_stored_cannot_begin(stores: Stores) -> None:
    assert stores.turns.begin("no-such-turn", owner="w1") is None


def test_a_turn_whose_deadline_passed_cannot_begin(stores: Stores) -> None:
    turn_id = stores.stored()
    stores.pass_deadline_of(turn_id)
    assert stores.turns.begin(turn_id, owner="w1") is None


@pytest.mark.fault(78)
def test_a_turn_that_was_given_up_cannot_begin(stores: Stores) -> None:
    turn_id = stores.stored()
    stores.turns.give_up(turn_id, NotAccepted())
    assert stores.turns.begin(turn_id, owner="w1") is None


def test_a_resumed_turn_has_its_messages_counts_and_refund(stores: Stores) -> None:
    turn, claimed = stores.claimed()
    stores.ledger.settle(claimed, epoch=turn.epoch, answer=Paid("r-1", "ok", 500))
    call = ToolCall("c1", "issue_refund", "{}")
    turn.messages += [AssistantMessage("", (call,)), ToolResult("c1", "{}")]
    turn.completions_used, turn.attempts = 3, 2
    assert stores.turns.checkpoint(turn)
    stores.silence_owner_of(turn.id)
    assert stores.sweeps.take_over() == [turn.id]

    resumed = stores.turns.begin(turn.id, owner="w2")

    assert resumed is not None
    assert resumed.messages == turn.messages
    assert (resumed.completions_used, resumed.attempts, resumed.refund_attempted) == (3, 2, True)
    assert resumed.refund is not None
    assert resumed.refund.refund_id == "r-1"
    assert resumed.epoch > turn.epoch


def test_a_stale_owner_writes_nothing(stores: Stores) -> None:
    stale = stores.running()
    stores.silence_owner_of(stale.id)
    stores.sweeps.take_over()
    assert stores.turns.checkpoint(stale) is False
    assert stores.turns.end(stale, Replied("too late")) is False
    found = stores.turns.find(stale.id)
    assert found is not None
    assert found.state == "queued"


def test_a_turn_that_is_put_off_can_begin_again_with_what_it_knew(stores: Stores) -> None:
    turn = stores.running()
    turn.messages.append(UserMessage("one more"))
    stores.turns.put_off(turn, seconds=60)
    again = stores.turns.begin(turn.id, owner="w2")
    assert again is not None
    assert (again.epoch, again.messages) == (2, turn.messages)


def test_a_turn_that_is_put_off_is_queued_after_its_pause_and_not_before(stores: Stores) -> None:
    turn = stores.running()
    stores.turns.put_off(turn, seconds=60)
    assert (stores.sweeps.take_over(), stores.sweeps.requeue_lost()) == ([], [])
    stores.age_queued(turn.id)
    assert stores.sweeps.requeue_lost() == [turn.id]


def test_a_turn_whose_refund_was_attempted_is_not_put_off(stores: Stores) -> None:
    turn, _ = stores.claimed()
    stores.turns.put_off(turn, seconds=60)
    found = stores.turns.find(turn.id)
    assert found is not None
    assert found.state == "running"


@pytest.mark.parametrize(
    "outcome",
    [
        Replied(""),
        Replied("done"),
        BudgetExhausted(),
        ProviderTimedOut(),
        ProviderFailed("http 500"),
        DeadlinePassed(),
        NotAccepted(),
        Broken("KeyError"),
    ],
)
def test_every_outcome_is_read_back_as_it_was_written(stores: Stores, outcome: TurnOutcome) -> None:
    turn = stores.running()
    assert stores.turns.end(turn, outcome)
    found = stores.turns.find(turn.id)
    assert found is not None
    assert found.outcome == outcome
    assert stores.turns.ended([turn.id, "other"]) == {turn.id}


@pytest.mark.parametrize("queued", [True, False], ids=["queued", "taken"])
def test_a_turn_whose_message_was_queued_after_all_is_not_called_unaccepted(
    stores: Stores, *, queued: bool
) -> None:
    """Its web process was slow: a sweeper found the turn stored a moment before."""
    turn_id = stores.stored()
    stores.age(turn_id)
    assert stores.sweeps.never_queued() == [turn_id]
    if queued:
        stores.turns.mark_queued(turn_id)
    turn = stores.turns.begin(turn_id, owner="w1") if not queued else None
    stands = stores.turns.give_up(turn_id, NotAccepted(), only_stored=True)
    assert (stands.state, stands.outcome) == ("queued" if queued else "running", None)
    assert stands.refund is None
    assert queued or (turn is not None and stores.turns.checkpoint(turn))


def test_a_turn_that_is_only_stored_is_given_up(stores: Stores) -> None:
    told = stores.turns.give_up(stores.stored(), NotAccepted(), only_stored=True)
    assert told.outcome == NotAccepted()
    assert told.refund is not None
    assert told.refund.state == "closed"


def test_giving_up_after_the_end_changes_nothing_and_tells_the_outcome(stores: Stores) -> None:
    turn = stores.running()
    stores.turns.end(turn, Replied("done"))
    told = stores.turns.give_up(turn.id, DeadlinePassed())
    assert told.outcome == Replied("done")
    assert told.refund is None


def test_giving_up_while_a_refund_is_in_flight_says_that_it_was_attempted(stores: Stores) -> None:
    turn, _ = stores.claimed()
    told = stores.turns.give_up(turn.id, DeadlinePassed())
    assert told.outcome == DeadlinePassed()
    assert told.refund is not None
    assert told.refund.state == "claimed"


def test_a_given_up_turn_still_settles_its_refund(stores: Stores) -> None:
    turn, claimed = stores.claimed()
    stores.turns.give_up(turn.id, DeadlinePassed())
    assert stores.ledger.settle(claimed, epoch=turn.epoch, answer=Paid("r-1", "ok", 500)).state == "paid"
