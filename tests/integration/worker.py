"""One worker's core over a real database, with a scripted model and a payments service in memory."""

from refund_agent.adapters.system_clock import SystemClock
from refund_agent.loop import Loop
from refund_agent.ports import Audit, Hints
from refund_agent.prompts import REFUND_CHAT
from refund_agent.refunds import Refunds
from refund_agent.runner import Runner
from refund_agent.tools import Toolbox
from tests.fakes import FakeAudit, FakeHints, FakeModel, FakePayments
from tests.integration.conftest import Stores


def worker(
    stores: Stores,
    *,
    model: FakeModel,
    payments: FakePayments,
    hints: Hints | None = None,
    audit: Audit | None = None,
) -> Runner:
    """Build a runner as the composition root does."""
    hints, clock = hints or FakeHints(), SystemClock()
    refunds = Refunds(
        ledger=stores.ledger,
        payments=payments,
        audit=audit or FakeAudit(),
        hints=hints,
        clock=clock,
        payments_timeout_seconds=10.0,
    )
    loop = Loop(
        instructions=REFUND_CHAT,
        model=model,
        toolbox=Toolbox([refunds.tool()]),
        turns=stores.turns,
        hints=hints,
        clock=clock,
        completion_timeout_seconds=20.0,
        backoff_seconds=0.01,
    )
    return Runner(turns=stores.turns, agents={"refund_chat": loop}, hints=hints, owner="w1")
