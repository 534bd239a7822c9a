"""The figures, read from a real database and a real Redis."""

from dataclasses import replace

import pytest
import redis
from sqlalchemy import update

from refund_agent.adapters.redis_presence import RedisPresence
from refund_agent.adapters.sql_inspection import SqlInspection
from refund_agent.adapters.sql_tables import turns
from refund_agent.adapters.system_figures import SystemFigures
from refund_agent.inspection import PersonsAnswer
from refund_agent.outcomes import Paid, PaymentAnswer, ProviderFailed, Rejected, Replied, Unknown
from tests.integration.conftest import Stores

SEEN = PersonsAnswer(money_moved=True, resolved_by="ann", note="seen", reference="rf-9")


def figures(stores: Stores, client: redis.Redis) -> SystemFigures:
    return SystemFigures(stores.database, client, web=RedisPresence(client, kind="web"))


def test_an_empty_service_has_figures_of_zero(stores: Stores, redis_client: redis.Redis) -> None:
    stored = figures(stores, redis_client).stored()
    assert stored.turns_by_outcome == {}
    assert stored.durations.count == 0
    assert stored.trouble.oldest_unknown_seconds == 0
    assert set(stored.trouble.breaches.values()) == {0}


def test_turns_and_refunds_are_counted(stores: Stores, redis_client: redis.Redis) -> None:
    paid, claim = stores.claimed("A1")
    stores.ledger.settle(claim, epoch=paid.epoch, answer=Paid("rf-1", "ok", 500))
    stores.turns.end(paid, Replied("done"))
    lost, claim = stores.claimed("A2")
    stores.ledger.settle(claim, epoch=lost.epoch, answer=Unknown("ReadTimeout"))
    stores.age_claim(lost.id)
    stores.silence_owner_of(lost.id)
    stored = figures(stores, redis_client).stored()
    assert stored.turns_by_outcome == {"replied": 1}
    assert stored.open_turns_by_state == {"running": 1}
    assert stored.refunds_by_state == {"paid": 1, "unknown": 1}
    assert stored.durations.count == 1
    assert stored.trouble.oldest_unknown_seconds > 24 * 3600
    assert (stored.trouble.expired_leases, stored.trouble.stuck_turns) == (1, 1)
    assert stored.trouble.unmirrored == 2


@pytest.mark.fault(281)
def test_turns_without_a_text_are_counted_while_they_are_recent(
    stores: Stores, redis_client: redis.Redis
) -> None:
    for outcome in (Replied("Good day."), Replied(""), ProviderFailed("HTTP 500")):
        stores.turns.end(stores.running(), outcome)
    old = stores.running()
    stores.turns.end(old, Replied(""))
    with stores.database.transaction() as tx:
        tx.execute(update(turns).where(turns.c.id == old.id).values(ended_at_ms=1))
    trouble = figures(stores, redis_client).stored().trouble
    assert (trouble.lately_ended, trouble.lately_unanswered) == (3, 2)


def test_a_row_that_contradicts_the_promise_is_a_breach(stores: Stores, redis_client: redis.Redis) -> None:
    turn, _ = stores.claimed()
    with stores.database.transaction() as tx:
        tx.execute(update(turns).where(turns.c.id == turn.id).values(refund_attempted=False))
    assert figures(stores, redis_client).stored().trouble.breaches["refund_without_its_flag"] == 1


@pytest.mark.fault(283)
def test_a_claim_that_no_living_worker_settles_ages_as_unknown(
    stores: Stores, redis_client: redis.Redis
) -> None:
    turn, _ = stores.claimed()
    assert figures(stores, redis_client).stored().trouble.oldest_unknown_seconds == 0
    stores.age_claim(turn.id)
    assert figures(stores, redis_client).stored().trouble.oldest_unknown_seconds > 24 * 3600


def test_the_mirror_is_behind_since_the_ledger_changed_and_not_since_the_claim(
    stores: Stores, redis_client: redis.Redis
) -> None:
    turn, claim = stores.claimed()
    stores.age_claim(turn.id)
    stores.ledger.settle(claim, epoch=turn.epoch, answer=Unknown("ReadTimeout"))
    SqlInspection(stores.database).resolve(
        turn.id, PersonsAnswer(money_moved=True, resolved_by="ann", note="seen", reference="rf-9")
    )
    trouble = figures(stores, redis_client).stored().trouble
    assert trouble.unmirrored == 1
    assert trouble.oldest_unmirrored_seconds < 60


@pytest.mark.parametrize(
    ("money_moved", "answer", "breaches"),
    [
        (False, Paid("rf-7", "ok", 500), 1),
        (True, Paid("rf-7", "ok", 500), 0),
        (True, Rejected("no such order"), 1),
        (False, Rejected("no such order"), 0),
    ],
)
def test_a_late_answer_that_contradicts_a_person_is_a_breach(
    stores: Stores, redis_client: redis.Redis, *, money_moved: bool, answer: PaymentAnswer, breaches: int
) -> None:
    turn, claim = stores.claimed()
    stores.age_claim(turn.id)
    stores.silence_owner_of(turn.id)
    stores.sweeps.lapse_claims()
    SqlInspection(stores.database).resolve(turn.id, replace(SEEN, money_moved=money_moved))
    stores.ledger.settle(claim, epoch=turn.epoch, answer=answer)
    assert figures(stores, redis_client).stored().trouble.breaches["late_answer_contradicts"] == breaches


def test_waiting_requests_add_up_across_processes_and_the_gone_are_forgotten(
    stores: Stores, redis_client: redis.Redis
) -> None:
    presence = RedisPresence(redis_client, kind="web")
    presence.beat("web.1", 12)
    presence.beat("web.2", 3)
    presence.beat("web.3", 5)
    presence.leave("web.3")
    redis_client.hset("presence:web", "web.4", "1 7")
    redis_client.rpush("turns", "a message", "another")
    live = figures(stores, redis_client).live()
    assert live.waiting_by_process == {"web.1": 12, "web.2": 3}
    assert live.queue_depth == 2
    assert not redis_client.hexists("presence:web", "web.4")
