"""The composition root's part for the support agent in a worker: its tools, its recorder, its approvals."""

from collections.abc import Callable
from datetime import date

from refund_agent.adapters.sql_approvals import SqlApprovals
from refund_agent.adapters.sql_conversations import SqlConversations
from refund_agent.adapters.sql_ledger import SqlLedger
from refund_agent.adapters.sql_totals import SqlTotals
from refund_agent.approval_agent import ApprovalAgent
from refund_agent.loop import Loop
from refund_agent.ports import Queue
from refund_agent.prompts import support_instructions
from refund_agent.recorder import Recorder
from refund_agent.rewriting import Rewriter
from refund_agent.settings import Settings
from refund_agent.support_agent import SupportAgent
from refund_agent.support_tools import SupportTools
from refund_agent.turn import Agent, RunsTurns
from refund_agent.wiring import Stores, TurnHints, build_refunds, open_journal
from refund_agent.wiring_orders import build_orders
from refund_agent.wiring_support import (
    build_approval_desk,
    build_limiter,
    build_reply_model,
    build_support_model,
)


def build_agents(
    settings: Settings, stores: Stores, *, send_phase: Callable[[str, str], None], today: date
) -> dict[Agent, RunsTurns]:
    """Build what answers support turns and sends approved refunds; nothing without a support agent."""
    if not settings.support.enabled:
        return {}
    journal = open_journal(stores)
    recorder = Recorder(journal)
    hints = TurnHints(stores.signals, send_phase)
    orders, conversations = (
        build_orders(settings, stores.database, today=today),
        SqlConversations(stores.database),
    )
    approvals = SqlApprovals(stores.database)
    refunds = build_refunds(settings, stores, ledger=recorder.ledger(SqlLedger(stores.database)), hints=hints)
    tools = SupportTools(
        orders=orders.orders,
        eligibility=orders.eligibility,
        refunds=refunds,
        approvals=approvals,
        conversations=conversations,
        note_decision=recorder.judged,
    )
    loop = Loop(
        instructions=support_instructions(orders.eligibility.rules),
        model=recorder.model(build_support_model(settings, stores)),
        toolbox=recorder.toolbox(tools.toolbox()),
        turns=stores.turns,
        hints=hints,
        clock=stores.clock,
        completion_timeout_seconds=settings.completion_timeout_seconds,
        backoff_seconds=settings.backoff_seconds,
    )
    support = SupportAgent(
        loop=loop,
        conversations=conversations,
        orders=orders.orders,
        limiter=build_limiter(settings, stores),
        journal=journal,
        rewriter=_rewriter(settings, stores, recorder),
    )
    approved = ApprovalAgent(
        approvals, orders.eligibility, refunds, conversations, orders.orders, stores.turns
    )
    return {"support": recorder.agent(support), "approval": recorder.agent(approved)}


def build_chores(settings: Settings, stores: Stores, *, queue: Queue) -> list[Callable[[], object]]:
    """Build what a worker does beside sweeping: it keeps totals, and tells what became of approvals."""
    totals = SqlTotals(stores.database)
    if not settings.support.enabled:
        return [totals.keep]
    desk = build_approval_desk(stores, queue=queue)
    return [totals.keep, desk.expire, desk.tell_broken_off]


def _rewriter(settings: Settings, stores: Stores, recorder: Recorder) -> Rewriter | None:
    model = build_reply_model(settings)
    if model is None:
        return None
    return Rewriter(
        model=recorder.model(model),
        turns=stores.turns,
        clock=stores.clock,
        completion_timeout_seconds=settings.completion_timeout_seconds,
    )
