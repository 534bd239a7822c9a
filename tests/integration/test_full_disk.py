"""The disk is full when an outcome has to be written: the claim stands, and is unknown in the end."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest
import redis
from sqlalchemy import text

from refund_agent.adapters.redis_presence import RedisPresence
from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.system_figures import SystemFigures
from refund_agent.alarms import alarms
from refund_agent.outcomes import Paid, Rejected
from refund_agent.ports import StoreUnavailable
from tests.integration.conftest import Stores

LONG = "payments says much " * 500


@contextmanager
def full_disk(database: Database) -> Generator[None]:
    """Let no row of `refunds` grow: SQLite really has no page left, PostgreSQL is told that it has none."""
    if not database.is_postgresql:
        with database.statement() as one:
            one.execute(text("VACUUM"))  # or the pages of what earlier tests deleted are free
            pages = one.execute(text("PRAGMA page_count")).scalar_one()
            one.execute(text(f"PRAGMA max_page_count = {pages}"))
        try:
            yield
        finally:
            with database.statement() as one:
                one.execute(text("PRAGMA max_page_count = 1000000"))
        return
    with database.transaction() as tx:
        tx.execute(
            text(
                "CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE 'no space left on device' USING ERRCODE = '53100'; END $$"
            )
        )
        tx.execute(text("CREATE TRIGGER full_disk BEFORE UPDATE ON refunds EXECUTE FUNCTION disk_is_full()"))
    try:
        yield
    finally:
        with database.transaction() as tx:
            tx.execute(text("DROP TRIGGER full_disk ON refunds"))
            tx.execute(text("DROP FUNCTION disk_is_full"))


@pytest.mark.fault(259)
def test_an_outcome_that_finds_the_disk_full_becomes_unknown_once_there_is_room(stores: Stores) -> None:
    turn, claimed = stores.claimed()

    with full_disk(stores.database), pytest.raises(StoreUnavailable):
        stores.ledger.settle(claimed, epoch=turn.epoch, answer=Rejected(LONG))
    stores.silence_owner_of(turn.id)

    assert [(record.turn_id, record.state) for record in stores.sweeps.lapse_claims()] == [
        (turn.id, "unknown")
    ]


@pytest.mark.fault(259)
def test_an_outcome_that_was_lost_to_a_full_disk_alarms_while_nobody_answers(
    stores: Stores, redis_client: redis.Redis
) -> None:
    turn, claimed = stores.claimed()
    with full_disk(stores.database), pytest.raises(StoreUnavailable):
        stores.ledger.settle(claimed, epoch=turn.epoch, answer=Rejected(LONG))
    stores.silence_owner_of(turn.id)
    stores.sweeps.lapse_claims()
    figures = SystemFigures(stores.database, redis_client, web=RedisPresence(redis_client, kind="web"))
    before = {alarm.name for alarm in alarms(figures.stored().trouble)}

    stores.age_claim(turn.id)

    assert {alarm.name for alarm in alarms(figures.stored().trouble)} - before == {
        "unknown_refund_overlooked"
    }


@pytest.mark.fault(259)
def test_a_settlement_that_is_tried_again_once_there_is_room_is_kept(stores: Stores) -> None:
    turn, claimed = stores.claimed()
    with full_disk(stores.database), pytest.raises(StoreUnavailable):
        stores.ledger.settle(claimed, epoch=turn.epoch, answer=Rejected(LONG))

    settled = stores.ledger.settle(claimed, epoch=turn.epoch, answer=Paid("re-1", "succeeded", 500))

    assert (settled.state, settled.refund_id) == ("paid", "re-1")
