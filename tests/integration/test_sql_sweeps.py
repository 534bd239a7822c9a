"""What the sweeper finds after a crash, one test per state that a crash can leave."""

from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier, Event

import pytest
from sqlalchemy import text

from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_sweeps import MAX_OWNERS
from refund_agent.outcomes import Claimed, NotAccepted, Paid
from refund_agent.policy import Approved, LockedFacts
from refund_agent.sweeper import Sweeper
from tests.fake_events import FakeJournal
from tests.fakes import FakeAudit, FakeHints, FakeQueue
from tests.integration.conftest import CALL, Stores

SWEEPERS = 6
LOOKS, LOOK_SECONDS = 1000, 0.01


def test_a_running_turn_with_a_live_lease_is_left_alone(stores: Stores) -> None:
    stores.running()
    assert stores.sweeps.take_over() == []
    assert stores.sweeps.overdue() == []


def test_a_renewed_lease_keeps_the_turn(stores: Stores) -> None:
    turn = stores.running("w1")
    stores.silence_owner_of(turn.id)
    stores.sweeps.renew([turn.id], owner="w1")
    assert stores.sweeps.take_over() == []


def test_only_the_owner_renews(stores: Stores) -> None:
    turn = stores.running("w1")
    stores.silence_owner_of(turn.id)
    stores.sweeps.renew([turn.id], owner="w2")
    assert stores.sweeps.take_over() == [turn.id]


@pytest.mark.fault(98)
def test_two_sweepers_take_a_turn_over_once(stores: Stores) -> None:
    turn = stores.running()
    stores.silence_owner_of(turn.id)
    assert [stores.sweeps.take_over(), stores.sweeps.take_over()] == [[turn.id], []]


@pytest.mark.fault(98)
def test_many_sweepers_in_the_same_instant_take_each_turn_over_once(stores: Stores) -> None:
    left_behind = [stores.running().id for _ in range(5)]
    for turn_id in left_behind:
        stores.silence_owner_of(turn_id)
    start = Barrier(SWEEPERS)

    def sweep(_: int) -> list[str]:
        start.wait()
        return stores.sweeps.take_over()

    with ThreadPoolExecutor(SWEEPERS) as pool:
        taken = [turn_id for found in pool.map(sweep, range(SWEEPERS)) for turn_id in found]

    assert sorted(taken) == sorted(left_behind)


def test_an_open_claim_lapses_before_its_turn_is_taken_over(stores: Stores) -> None:
    turn, _ = stores.claimed()
    stores.silence_owner_of(turn.id)
    assert stores.sweeps.take_over() == []
    lapsed = stores.sweeps.lapse_claims()
    assert [(record.turn_id, record.state) for record in lapsed] == [(turn.id, "unknown")]
    assert stores.sweeps.take_over() == [turn.id]


def test_a_claim_of_a_living_worker_never_lapses(stores: Stores) -> None:
    turn, _ = stores.claimed()
    stores.age_claim(turn.id)
    assert stores.sweeps.lapse_claims() == []


@pytest.mark.fault(283)
def test_a_claim_whose_turn_ended_lapses_only_after_the_payments_timeout(stores: Stores) -> None:
    turn, _ = stores.claimed()
    stores.turns.give_up(turn.id, NotAccepted())
    assert stores.sweeps.lapse_claims() == []
    stores.age_claim(turn.id)
    assert [record.turn_id for record in stores.sweeps.lapse_claims()] == [turn.id]


@pytest.mark.fault(283)
def test_a_lapsed_claim_lapses_once(stores: Stores) -> None:
    turn, _ = stores.claimed()
    stores.silence_owner_of(turn.id)
    assert [len(stores.sweeps.lapse_claims()) for _ in range(2)] == [1, 0]


def test_a_turn_that_costs_too_many_workers_is_hopeless(stores: Stores) -> None:
    turn_id = stores.stored()
    for _ in range(MAX_OWNERS - 1):
        assert stores.turns.begin(turn_id, owner="w") is not None
        stores.silence_owner_of(turn_id)
        assert stores.sweeps.take_over() == [turn_id]
    assert stores.turns.begin(turn_id, owner="w") is not None
    stores.silence_owner_of(turn_id)
    assert stores.sweeps.take_over() == []
    assert stores.sweeps.hopeless() == [turn_id]


def test_a_turn_past_its_deadline_is_overdue_in_any_unended_state(stores: Stores) -> None:
    stored, running = stores.stored(), stores.running().id
    for turn_id in (stored, running):
        stores.pass_deadline_of(turn_id)
    assert set(stores.sweeps.overdue()) == {stored, running}


@pytest.mark.fault(37)
def test_a_turn_whose_web_process_died_before_queueing_is_found(stores: Stores) -> None:
    fresh, old = stores.stored(), stores.stored()
    stores.age(old)
    assert stores.sweeps.never_queued() == [old]
    assert fresh != old


@pytest.mark.fault(80)
def test_a_turn_whose_message_was_lost_is_queued_again_once_a_lease(stores: Stores) -> None:
    turn_id = stores.stored()
    stores.turns.mark_queued(turn_id)
    assert stores.sweeps.requeue_lost() == []
    stores.age_queued(turn_id)
    assert stores.sweeps.requeue_lost() == [turn_id]
    assert stores.sweeps.requeue_lost() == []


def test_rows_are_mirrored_until_their_present_state_is_marked(stores: Stores) -> None:
    turn, claimed = stores.claimed()
    assert stores.sweeps.not_mirrored() == [claimed]
    paid = stores.ledger.settle(claimed, epoch=turn.epoch, answer=Paid("r-1", "ok", 500))
    stores.sweeps.mark_mirrored([claimed])
    assert stores.sweeps.not_mirrored() == [paid]
    stores.sweeps.mark_mirrored([paid])
    assert stores.sweeps.not_mirrored() == []


@pytest.mark.fault(89)
def test_a_stopping_worker_hands_over_its_turns_but_never_one_with_a_refund_in_flight(stores: Stores) -> None:
    idle, (sending, _), other = stores.running("w1"), stores.claimed(), stores.running("w2")
    assert stores.sweeps.release([idle.id, sending.id, other.id], owner="w1") == [idle.id]
    assert stores.turns.checkpoint(idle) is False
    assert stores.turns.checkpoint(sending) is True
    assert stores.turns.checkpoint(other) is True


@pytest.mark.parametrize("sweep", ["release", "take_over"])
def test_a_turn_whose_claim_commits_while_the_sweeper_waits_for_it_is_left_alone(
    stores: Stores, sweep: str
) -> None:
    turn = stores.running("w1")
    if sweep == "take_over":
        stores.silence_owner_of(turn.id)
    sweeps = {
        "release": lambda: stores.sweeps.release([turn.id], owner="w1"),
        "take_over": stores.sweeps.take_over,
    }

    with ThreadPoolExecutor(1) as pool:

        def approve_while_somebody_sweeps(_: LockedFacts) -> Approved:
            swept.append(pool.submit(sweeps[sweep]))
            wait_for_a_lock(stores.database)
            return Approved(500, "2026-11")

        swept: list[Future[list[str]]] = []
        claim = stores.ledger.claim(
            turn, call=CALL, order_id="A1", amount_cents=500, check=approve_while_somebody_sweeps
        )

        assert isinstance(claim, Claimed)
        assert swept[0].result() == []
    assert stores.turns.checkpoint(turn) is True


def wait_for_a_lock(database: Database) -> None:
    """Return when another session waits for a row; SQLite lets nobody in as long as somebody writes."""
    waits = text(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    if not database.is_postgresql:
        return
    for _ in range(LOOKS):
        with database.statement() as one:
            if one.execute(waits).scalar_one():
                return
        Event().wait(LOOK_SECONDS)
    raise AssertionError("no session waits for a row")


def test_a_claim_that_the_sweeper_gives_up_is_an_event_of_its_turn(stores: Stores) -> None:
    turn, _ = stores.claimed()
    stores.silence_owner_of(turn.id)
    journal, queue = FakeJournal(), FakeQueue()
    sweeper = Sweeper(
        sweeps=stores.sweeps,
        turns=stores.turns,
        queue=queue,
        audit=FakeAudit(),
        hints=FakeHints(),
        journal=journal,
    )

    sweeper.sweep()

    assert [(noted, kind) for noted, kind, _ in journal.noted] == [(turn.id, "settle")]
    assert journal.bodies("settle")[0]["state"] == "unknown"
    assert journal.bodies("settle")[0]["by"] == "sweeper"
