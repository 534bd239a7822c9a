"""The wall clock of a worker may jump: deadlines are monotonic, and leases are the database's business."""

from datetime import timedelta

import pytest
import time_machine
from sqlalchemy import create_engine, func, select

from refund_agent.adapters.sql_database import now_ms
from refund_agent.outcomes import Replied
from refund_agent.ports import Completed
from tests.fakes import FakeModel, FakePayments, calls_refund, says
from tests.integration.conftest import Stores
from tests.integration.worker import worker


@pytest.mark.parametrize("hours", [1, -1], ids=["ahead", "back"])
@pytest.mark.fault(105)
def test_a_turn_runs_on_when_the_wall_clock_jumps_an_hour(stores: Stores, hours: int) -> None:
    turn_id, payments = stores.stored(), FakePayments()

    with time_machine.travel(None, tick=True) as traveller:

        def answers_after_the_jump() -> Completed:
            traveller.shift(timedelta(hours=hours))
            return calls_refund("A1", 500)

        model = FakeModel(answers_after_the_jump, says("done"))
        assert worker(stores, model=model, payments=payments).run(turn_id) == Replied("done")

    assert payments.moved == [("A1", 500)]
    assert [asked.timeout_seconds for asked in model.asked] == [20.0, 20.0]


@pytest.mark.fault(105)
def test_leases_are_told_by_the_database_server_where_there_is_one() -> None:
    statement = select(func.max(now_ms())).compile(create_engine("postgresql+psycopg://nowhere"))

    assert "clock_timestamp()" in str(statement)
    assert statement.params == {}
