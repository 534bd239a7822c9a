"""Totals are kept up to a moment and counted from there: nothing twice, nothing lost, no table read whole."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import redis
from sqlalchemy import Table, delete, event, select, update

from refund_agent.adapters import sql_totals
from refund_agent.adapters.redis_presence import RedisPresence
from refund_agent.adapters.sql_inspection import SqlInspection
from refund_agent.adapters.sql_tables import kept_totals, refunds, turns
from refund_agent.adapters.sql_totals import SqlTotals
from refund_agent.adapters.system_figures import SystemFigures
from refund_agent.figures import StoredFigures
from refund_agent.inspection import PersonsAnswer
from refund_agent.outcomes import Paid, ProviderFailed, Replied, Unknown
from tests.integration.conftest import Stores

FOUND = PersonsAnswer(money_moved=True, resolved_by="ann", note="seen", reference="rf-9")
WHOLE_TABLE = re.compile(r"SCAN (turns|refunds)(?! USING (COVERING )?INDEX refunds_unmirrored)")


class Service:
    """What a worker and a scrape do, and turns of long ago."""

    def __init__(self, stores: Stores, client: redis.Redis) -> None:
        self.stores = stores
        self.totals = SqlTotals(stores.database)
        self._figures = SystemFigures(stores.database, client, web=RedisPresence(client, kind="web"))

    def figures(self) -> StoredFigures:
        return self._figures.stored()

    def refunded(self, order_id: str, at_ms: int) -> None:
        turn, claim = self.stores.claimed(order_id)
        self.stores.ledger.settle(claim, epoch=turn.epoch, answer=Paid(f"rf-{order_id}", "ok", 500))
        self.stores.turns.end(turn, Replied("done"))
        self.happened(turn.id, at_ms)

    def failed(self, at_ms: int) -> None:
        turn = self.stores.running()
        self.stores.turns.end(turn, ProviderFailed("HTTP 500"))
        self.happened(turn.id, at_ms)

    def closed(self, at_ms: int) -> None:
        turn_id = self.stores.stored()
        self.stores.turns.give_up(turn_id, ProviderFailed("away"))
        self.happened(turn_id, at_ms)

    def happened(self, turn_id: str, at_ms: int) -> None:
        with self.stores.database.transaction() as tx:
            tx.execute(
                update(turns)
                .where(turns.c.id == turn_id)
                .values(created_at_ms=at_ms - 700, ended_at_ms=at_ms)
            )
            mine = update(refunds).where(refunds.c.turn_id == turn_id)
            tx.execute(mine.values(decided_at_ms=at_ms))
            tx.execute(mine.where(refunds.c.settled_at_ms.is_not(None)).values(settled_at_ms=at_ms))

    def kept(self) -> str:
        with self.stores.database.transaction(read_only=True) as tx:
            return str(tx.execute(select(kept_totals.c.totals)).scalar_one())


@pytest.fixture
def service(stores: Stores, redis_client: redis.Redis) -> Service:
    return Service(stores, redis_client)


def test_figures_are_the_same_before_and_after_totals_are_kept(service: Service) -> None:
    service.refunded("A1", 1_000)
    service.refunded("A2", 2_000)
    service.failed(2_000)
    service.closed(3_000)
    before = service.figures()

    assert service.totals.keep()

    assert counted(service.figures()) == counted(before)
    assert before.turns_by_outcome == {"replied": 2, "provider_failed": 2}
    assert before.refunds_by_state == {"paid": 2, "closed": 1}
    assert (before.durations.count, before.durations.total_seconds) == (4, 2.8)
    assert (before.durations.up_to[0.5], before.durations.up_to[1.0]) == (0, 4)


def test_what_is_kept_is_not_read_from_the_rows_again(service: Service) -> None:
    service.failed(1_000)
    service.totals.keep()
    with service.stores.database.transaction() as tx:
        tx.execute(delete(turns))

    assert service.figures().turns_by_outcome == {"provider_failed": 1}


def test_many_small_steps_count_what_one_would(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        service.refunded(f"A{number}", 1_000 + number // 2)
    before = counted(service.figures())
    monkeypatch.setattr(sql_totals, "ROWS_PER_STEP", 1)

    for _ in range(2):
        service.totals.keep()
    assert '"outcome replied": 2' in service.kept(), "a step is bounded"
    service.totals.keep_all(before_ms=100_000)

    assert '"outcome replied": 6' in service.kept()
    assert counted(service.figures()) == before


def test_what_ended_just_now_is_not_kept_yet(service: Service) -> None:
    turn = service.stores.running()
    service.stores.turns.end(turn, Replied("done"))

    service.totals.keep()

    assert "outcome" not in service.kept()
    assert service.figures().turns_by_outcome == {"replied": 1}
    assert not service.totals.keep(), "nothing more for some minutes"


def test_a_slow_worker_takes_no_total_back(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    database = service.stores.database
    insert_or_ignore = database.insert_or_ignore

    def meanwhile(table: Table) -> object:
        """Another worker keeps more, and what it kept is forgotten, before the first one writes."""
        monkeypatch.setattr(database, "insert_or_ignore", insert_or_ignore)
        service.failed(2_000)
        service.totals.keep_all(before_ms=5_000)
        with database.transaction() as tx:
            tx.execute(delete(turns))
        return insert_or_ignore(table)

    service.failed(1_000)
    monkeypatch.setattr(database, "insert_or_ignore", meanwhile)
    service.totals.keep_all(before_ms=1_500)

    assert service.figures().turns_by_outcome == {"provider_failed": 2}


def test_an_unknown_refund_counts_as_what_a_person_found(service: Service) -> None:
    turn, claim = service.stores.claimed("A1")
    service.stores.ledger.settle(claim, epoch=turn.epoch, answer=Unknown("ReadTimeout"))
    service.happened(turn.id, 1_000)
    service.totals.keep()
    assert service.figures().refunds_by_state == {"unknown": 1}

    SqlInspection(service.stores.database).resolve(turn.id, FOUND)

    assert service.figures().refunds_by_state == {"paid": 1}


def test_a_clock_that_was_set_back_takes_nothing_from_a_total(service: Service) -> None:
    service.failed(2_000)
    before = service.figures().durations
    turn = service.stores.running()
    service.stores.turns.end(turn, Replied("done"))
    with service.stores.database.transaction() as tx:
        tx.execute(
            update(turns).where(turns.c.id == turn.id).values(ended_at_ms=turns.c.created_at_ms - 9_000)
        )

    assert service.figures().durations.total_seconds == before.total_seconds


def test_no_figure_reads_the_whole_of_turns_or_of_the_ledger(service: Service) -> None:
    if service.stores.database.is_postgresql:
        pytest.skip("its planner reads a small table whole, and rightly")
    service.totals.keep()

    with statements(service) as asked:
        service.figures()

    assert len(asked) > 5
    assert [plan for plan in asked if WHOLE_TABLE.search(plan)] == []


def counted(figures: StoredFigures) -> tuple[object, ...]:
    """Leave out what grows while one looks: ages."""
    return figures.turns_by_outcome, figures.durations, figures.refunds_by_state


@contextmanager
def statements(service: Service) -> Iterator[list[str]]:
    """Give SQLite's plan of every SELECT that is made meanwhile."""
    engine, asked, plans = service.stores.database.engine, list[tuple[str, object]](), list[str]()

    def note(*given: object) -> None:
        _connection, _cursor, statement, parameters, *_ = given
        if str(statement).startswith("SELECT"):
            asked.append((str(statement), parameters))

    event.listen(engine, "before_cursor_execute", note)
    yield plans
    event.remove(engine, "before_cursor_execute", note)
    with engine.connect() as connection:
        for statement, parameters in asked:
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)  # type: ignore[arg-type]
            plans.append("; ".join(str(row[-1]) for row in rows))
