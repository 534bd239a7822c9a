"""Nobody watches: logs, events, phases and the mirror are away. The turn and its refund are unaffected."""

import logging
from collections.abc import Iterator

import pytest
import structlog

from refund_agent import logs
from refund_agent.adapters.redis_audit import RedisAudit
from refund_agent.adapters.redis_client import connect
from refund_agent.adapters.redis_signals import RedisSignals
from refund_agent.outcomes import Replied
from refund_agent.wiring import TurnHints
from tasks.app import app
from tasks.phases import MAX_WAITING, PhaseSender
from tests.fakes import FakeModel, FakePayments, calls_refund, says
from tests.integration.conftest import Stores
from tests.integration.worker import worker

NOBODY_THERE = "redis://127.0.0.1:1/0"


class BrokenPipe:
    """Standard output after its reader has gone."""

    def write(self, _text: str) -> int:
        raise BrokenPipeError

    def flush(self) -> None:
        raise BrokenPipeError


@pytest.fixture
def logs_are_cut() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    logs.configure(logging.DEBUG, BrokenPipe())  # type: ignore[arg-type]  # a stream is what can be written to
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.mark.fault(293)
def test_a_turn_with_all_pipes_cut_pays_once_and_ends(
    stores: Stores, logs_are_cut: None, capsys: pytest.CaptureFixture[str]
) -> None:
    client = connect(NOBODY_THERE, connections=1)
    phases = PhaseSender(app, hostname="w1")
    for _ in range(MAX_WAITING):
        phases.send("another turn", "thinking")
    payments, turn_id = FakePayments(), stores.stored()
    payments.accepts_then_drops_the_answer()
    runner = worker(
        stores,
        model=FakeModel(calls_refund("A1", 500), says("we will check")),
        payments=payments,
        hints=TurnHints(RedisSignals(client), phases.send),
        audit=RedisAudit(client),
    )

    assert runner.run(turn_id) == Replied("we will check")

    found = stores.turns.find(turn_id)
    assert found is not None
    assert found.refund is not None
    assert (found.state, found.refund.state) == ("ended", "unknown")
    assert payments.requests == [("A1", 500)]
    assert "BrokenPipeError" in capsys.readouterr().err
    client.close()
