"""The stores over a real database, and turns in the states that a crash can leave."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from sqlalchemy import update

from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_ledger import SqlLedger
from refund_agent.adapters.sql_sweeps import SqlSweeps
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.adapters.sql_turns import SqlTurns
from refund_agent.adapters.system_clock import SystemClock
from refund_agent.outcomes import CallPosition, Claimed, RefundRecord
from refund_agent.turn import NewTurn, Turn
from tests.support_stage import SupportStage

CALL = CallPosition(1, 0)


@dataclass(frozen=True)
class Stores:
    database: Database
    turns: SqlTurns
    ledger: SqlLedger
    sweeps: SqlSweeps

    def stored(self) -> str:
        turn_id = str(uuid.uuid4())
        self.turns.create(NewTurn(turn_id, "user-1", "refund 5.00 for order A1", "req-1"))
        return turn_id

    def running(self, owner: str = "w1") -> Turn:
        turn = self.turns.begin(self.stored(), owner=owner)
        assert turn is not None
        return turn

    def claimed(self, order_id: str = "A1", amount_cents: int = 500) -> tuple[Turn, RefundRecord]:
        turn = self.running()
        claim = self.ledger.claim(turn, call=CALL, order_id=order_id, amount_cents=amount_cents)
        assert isinstance(claim, Claimed)
        return turn, claim.record

    def silence_owner_of(self, turn_id: str) -> None:
        self._change_turn(turn_id, lease_until_ms=1)

    def pass_deadline_of(self, turn_id: str) -> None:
        self._change_turn(turn_id, deadline_at_ms=1)

    def age(self, turn_id: str) -> None:
        self._change_turn(turn_id, created_at_ms=1)

    def age_queued(self, turn_id: str) -> None:
        self._change_turn(turn_id, queued_at_ms=1)

    def age_claim(self, turn_id: str) -> None:
        with self.database.transaction() as tx:
            tx.execute(update(refunds).where(refunds.c.turn_id == turn_id).values(decided_at_ms=1))

    def _change_turn(self, turn_id: str, **values: int) -> None:
        with self.database.transaction() as tx:
            tx.execute(update(turns).where(turns.c.id == turn_id).values(values))


@pytest.fixture
def stage(database: Database) -> SupportStage:
    """Give the support agent over the seeded customers and orders."""
    built = SupportStage(database)
    built.plant()
    return built


@pytest.fixture
def stores(database: Database) -> Stores:
    return Stores(
        database,
        SqlTurns(database, clock=SystemClock(), deadline_seconds=120, lease_seconds=15),
        SqlLedger(database),
        SqlSweeps(database, lease_seconds=15, payments_timeout_seconds=10),
    )


Racers = Callable[[int, Callable[[int], object]], list[object]]
