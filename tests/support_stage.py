"""The support agent over a real database, wired as in production, with a scripted model and fake payments."""

import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from refund_agent import prompts
from refund_agent.adapters import sql_entries
from refund_agent.adapters.sql_approvals import SqlApprovals
from refund_agent.adapters.sql_conversations import SqlConversations
from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_ledger import SqlLedger
from refund_agent.adapters.sql_orders import SqlOrderRefunds, SqlOrders
from refund_agent.adapters.sql_seeds import SqlSeeds
from refund_agent.adapters.sql_sweeps import SqlSweeps
from refund_agent.adapters.sql_turns import SqlTurns
from refund_agent.approval_agent import ApprovalAgent
from refund_agent.approval_desk import ApprovalDesk
from refund_agent.approvals import Approval
from refund_agent.eligibility import Eligibility
from refund_agent.journal import Journal
from refund_agent.limits import Admission, Admitted, Asking, Limiter
from refund_agent.loop import Loop
from refund_agent.orders import Orders
from refund_agent.outcomes import Replied
from refund_agent.policy import Rules
from refund_agent.ports import Completed, CompletionAnswer, Hints
from refund_agent.recorder import Recorder
from refund_agent.refunds import Refunds
from refund_agent.rewriting import Rewriter
from refund_agent.runner import DeliveryEnding, Runner
from refund_agent.seeds import Seeds, plant, read_seeds
from refund_agent.support_agent import SupportAgent
from refund_agent.support_desk import SupportDesk
from refund_agent.support_tools import SupportTools
from refund_agent.sweeper import Sweeper
from refund_agent.turn import NewTurn, ToolResult, TurnRecord
from tests.fake_events import FakeJournal
from tests.fakes import (
    FakeAudit,
    FakeClock,
    FakeHints,
    FakeModel,
    FakePayments,
    FakeQueue,
    calls_refund,
    says,
)
from tests.policy_cases import RULES

Script: TypeAlias = CompletionAnswer | Callable[[], CompletionAnswer]


class FakeLimiter:
    """Lets everybody in unless told otherwise, or asks `real`; keeps what was asked and spent."""

    def __init__(self) -> None:
        self.answer: Admission = Admitted()
        self.real: Limiter | None = None
        self.asked: list[Asking] = []
        self.spent: list[tuple[str, int]] = []
        self.before: Callable[[], object] = lambda: None

    def admit(self, asking: Asking) -> Admission:
        self.before()
        self.asked.append(asking)
        return self.real.admit(asking) if self.real else self.answer

    def spend(self, customer_id: str, tokens: int) -> None:
        self.spent.append((customer_id, tokens))


class SupportStage:
    """One process that is web and worker at once; change a part before the turn that needs it."""

    def __init__(
        self,
        database: Database,
        *,
        rules: Rules = RULES,
        journal: Journal | None = None,
        orders: Orders | None = None,
        hints: Hints | None = None,
    ) -> None:
        self.database = database
        self.clock = FakeClock()
        self.turns = SqlTurns(database, clock=self.clock, deadline_seconds=120, lease_seconds=15)
        self.ledger = SqlLedger(database)
        self.payments, self.queue, self.limiter = FakePayments(), FakeQueue(), FakeLimiter()
        self.journal = journal or FakeJournal()
        self.hints = hints or FakeHints()
        self.model = FakeModel()
        self.rewriter: Rewriter | None = None
        self.orders: Orders = orders or SqlOrders(database)
        self.eligibility = Eligibility(
            orders=self.orders,
            refunds=SqlOrderRefunds(database),
            rules=rules,
            orders_are_ours=orders is None,
        )
        self.conversations, self.approvals = SqlConversations(database), SqlApprovals(database)
        self.desk = SupportDesk(self.conversations, self.limiter, self.turns.knows_key)
        self.approval_desk = ApprovalDesk(self.approvals, self.conversations, self.queue)

    def plant(self) -> Seeds:
        """Write the seeded customers and orders, as they are by the database's own day."""
        seeds = read_seeds(SqlOrderRefunds(self.database).standing([]).today)
        plant(seeds, store=SqlSeeds(self.database), turns=self.turns, ledger=self.ledger)
        return seeds

    def open(self, customer_id: str) -> str:
        """Begin a conversation."""
        return open_conversation(self.database, customer_id)

    def say(self, text: str, *script: Script, conversation_id: str, customer_id: str) -> TurnRecord:
        """Let a turn of the conversation be stored, and run while the model answers by `script`."""
        turn_id = self.store(text, conversation_id=conversation_id, customer_id=customer_id)
        self.deliver(turn_id, *script)
        ended = self.turns.find(turn_id)
        assert ended is not None
        return ended

    def store(self, text: str, *, conversation_id: str, customer_id: str) -> str:
        turn_id = str(uuid.uuid4())
        self.turns.create(
            NewTurn(turn_id, customer_id, text, agent="support", conversation_id=conversation_id)
        )
        return turn_id

    def deliver(self, turn_id: str, *script: Script) -> DeliveryEnding:
        """Deliver a turn's message to a worker while the model answers by `script`."""
        self.model = FakeModel(*script)
        return self.runner().run(turn_id)

    def runner(self, owner: str = "w1") -> Runner:
        """Build a worker's runner, as the composition root does."""
        recorder = Recorder(self.journal)
        refunds = Refunds(
            ledger=recorder.ledger(self.ledger),
            payments=self.payments,
            audit=FakeAudit(),
            hints=self.hints,
            clock=self.clock,
            payments_timeout_seconds=10.0,
        )
        tools = SupportTools(
            orders=self.orders,
            eligibility=self.eligibility,
            refunds=refunds,
            approvals=self.approvals,
            conversations=self.conversations,
            note_decision=recorder.judged,
        )
        loop = Loop(
            instructions=prompts.support_instructions(self.eligibility.rules),
            model=recorder.model(self.model),
            toolbox=recorder.toolbox(tools.toolbox()),
            turns=self.turns,
            hints=self.hints,
            clock=self.clock,
            completion_timeout_seconds=20.0,
            backoff_seconds=2.0,
        )
        support = SupportAgent(
            loop=loop,
            conversations=self.conversations,
            orders=self.orders,
            limiter=self.limiter,
            journal=self.journal,
            rewriter=self.rewriter,
        )
        approved = ApprovalAgent(
            self.approvals, self.eligibility, refunds, self.conversations, self.orders, self.turns
        )
        agents = {"support": recorder.agent(support), "approval": recorder.agent(approved)}
        return Runner(turns=self.turns, agents=agents, hints=self.hints, owner=owner)  # type: ignore[arg-type]  # keys are Agents

    def sweep(self) -> None:
        """Mend once what processes left behind."""
        Sweeper(
            sweeps=SqlSweeps(self.database, lease_seconds=15, payments_timeout_seconds=10),
            turns=self.turns,
            queue=self.queue,
            audit=FakeAudit(),
            hints=FakeHints(),
            journal=self.journal,
        ).sweep()

    def escalate(self, customer_id: str, order_id: str, cents: int) -> Approval:
        """Let a customer ask for a refund that needs a person, and return the approval that waits then."""
        self.say(
            f"Please refund {order_id}.",
            calls_refund(order_id, cents),
            says("A colleague has to decide about it."),
            conversation_id=self.open(customer_id),
            customer_id=customer_id,
        )
        (found,) = [one for one in self.approvals.page(state="pending", limit=10) if one.order_id == order_id]
        return found

    def tool_answers(self) -> list[str]:
        """Every tool result that the model was last shown, in order."""
        return [m.content for m in self.model.asked[-1].messages if isinstance(m, ToolResult)]


def open_conversation(database: Database, customer_id: str) -> str:
    """Store an empty conversation; in production one begins with its first turn."""
    conversation_id = str(uuid.uuid4())
    with database.transaction() as tx:
        sql_entries.open_conversation(database, tx, conversation_id, customer_id=customer_id)
    return conversation_id


def reply_of(turn: TurnRecord) -> str:
    assert isinstance(turn.outcome, Replied), turn.outcome
    return turn.outcome.text


def with_tokens(answer: Completed, tokens: int) -> Completed:
    return replace(answer, tokens=tokens)
