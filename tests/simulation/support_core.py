"""The support agent's parts, built as `wiring_agents` builds them, from modules that may lack one guard."""

from collections.abc import Callable
from typing import Any

from refund_agent import prompts
from refund_agent.limits import Admission, Admitted, Asking, TooFast
from refund_agent.orders import Order
from tests.simulation.core import Core
from tests.simulation.stage import Stage
from tests.simulation.support_shop import Shop

REFUSED = 0.03
CHANGED = 0.04


class SupportCore(Core):
    """Builds what one process needs; `shop` and `stage` are set before the first process starts."""

    shop: Shop
    stage: Stage

    def conversations(self) -> "WatchedConversations":
        """Return a process's `Conversations`."""
        sql = self._modules["refund_agent.adapters.sql_conversations"].SqlConversations(self._database)
        return WatchedConversations(sql, self.stage)

    def desk(self, *, turns: Any) -> Any:
        """Return where customers write."""
        return self._modules["refund_agent.support_desk"].SupportDesk(
            self.conversations(), MoodyLimiter(self.stage), turns.knows_key
        )

    def approval_desk(self) -> Any:
        """Return where staff decide."""
        return self._modules["refund_agent.approval_desk"].ApprovalDesk(
            self._approvals(), self.conversations(), self._broker
        )

    def inspection(self) -> Any:
        """Return where staff answer what became of an unknown refund."""
        return self._modules["refund_agent.adapters.sql_inspection"].SqlInspection(self._database)

    def chores(self) -> tuple[Callable[[], object], ...]:
        """Return what a worker process does beside sweeping."""
        desk = self.approval_desk()
        return (desk.expire, desk.tell_broken_off)

    def _approvals(self) -> Any:
        return self._modules["refund_agent.adapters.sql_approvals"].SqlApprovals(self._database)

    def _agents(self, *, turns: object, ledger: object, clock: object) -> dict[str, Any]:
        orders_of = self._modules["refund_agent.adapters.sql_orders"]
        orders = ChangingOrders(orders_of.SqlOrders(self._database), self.shop, self.stage)
        conversations, approvals = self.conversations(), self._approvals()
        journal = TracedJournal(self.stage)
        recorder = self._modules["refund_agent.recorder"].Recorder(journal)
        eligibility = self._modules["refund_agent.eligibility"].Eligibility(
            orders=orders,
            refunds=orders_of.SqlOrderRefunds(self._database),
            rules=self.shop.rules,
            orders_are_ours=True,
        )
        refunds = self._refunds(ledger=recorder.ledger(ledger), clock=clock)
        tools = self._modules["refund_agent.support_tools"].SupportTools(
            orders=orders,
            eligibility=eligibility,
            refunds=refunds,
            approvals=approvals,
            conversations=conversations,
            note_decision=recorder.judged,
        )
        loop = self._loop(
            prompts.support_instructions(self.shop.rules),
            recorder.model(self._model),
            recorder.toolbox(tools.toolbox()),
            turns=turns,
            clock=clock,
        )
        support = self._modules["refund_agent.support_agent"].SupportAgent(
            loop=loop,
            conversations=conversations,
            orders=orders,
            limiter=MoodyLimiter(self.stage),
            journal=journal,
        )
        approved = self._modules["refund_agent.approval_agent"].ApprovalAgent(
            approvals, eligibility, refunds, conversations, orders, turns
        )
        return {"support": recorder.agent(support), "approval": recorder.agent(approved)}


class WatchedConversations:
    """The real `Conversations`; remembers when each thread last asked who speaks."""

    def __init__(self, conversations: Any, stage: Stage) -> None:
        self._conversations = conversations
        self._stage = stage

    def find(self, conversation_id: str, *, customer_id: str | None) -> Any:
        self._stage.scheduler.me().read_owner_at = self._stage.scheduler.now
        return self._conversations.find(conversation_id, customer_id=customer_id)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._conversations, name)


class ChangingOrders:
    """The real `Orders`; now and then an order is not any more what it was when it was looked at."""

    def __init__(self, orders: Any, shop: Shop, stage: Stage) -> None:
        self._orders = orders
        self._shop = shop
        self._stage = stage

    def find(self, customer_id: str, order_id: str) -> Order | None:
        found: Order | None = self._orders.find(customer_id, order_id)
        if found is not None and self._stage.rng.random() < CHANGED:
            self._stage.note(self._shop.change(order_id))
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._orders, name)


class MoodyLimiter:
    """Implements the port `Limiter`: now and then there is no room."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def admit(self, asking: Asking) -> Admission:
        del asking
        return TooFast(1) if self._stage.rng.random() < REFUSED else Admitted()

    def spend(self, customer_id: str, tokens: int) -> None:
        pass


class TracedJournal:
    """Implements the port `Journal`: events are part of the story, and evidence of nothing."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def note(self, turn_id: str, kind: str, body: object) -> None:
        if self._stage.trace is not None:
            self._stage.note_for(turn_id, f"event: {kind} {body}")
