"""What must hold for the support agent besides: the policy, approvals, and who speaks in a conversation."""

from collections.abc import Callable
from dataclasses import dataclass

from refund_agent.adapters.sql_entries import entry_id
from refund_agent.prompts import support_instructions
from tests.simulation.database import SimulatedDatabase
from tests.simulation.lives import Life
from tests.simulation.stage import Stage
from tests.simulation.support_calls import SupportCalls
from tests.simulation.support_shop import Shop
from tests.simulation.timing import Timing
from tests.simulation.watch_talks import SupportCompletionWatch, SupportWordWatch
from tests.simulation.witness import Witness

DECISIONS = frozenset({"approved", "declined", "expired"})
MAY_HAVE_MOVED = frozenset({"claimed", "unknown", "paid"})


@dataclass
class Asked:
    """An approval as it was first committed, and the state that it has come to."""

    id: str
    state: str
    arguments: tuple[str, str, int]
    conversation_id: str
    expires_at_ms: int
    is_tampered: bool = False


@dataclass
class Held:
    """Whose a conversation is, and since when a person has it; None: the agent has it."""

    customer_id: str
    person_since: float | None = None


class SupportWitness(Witness):
    """Hears what was committed about approvals and conversations as well."""

    def __init__(
        self, stage: Stage, database: SimulatedDatabase, calls: SupportCalls, timing: Timing, shop: Shop
    ) -> None:
        super().__init__(stage, database, calls, timing)
        self._calls = calls
        self._shop = shop
        self.approvals: dict[str, Asked] = {}
        self.conversations: dict[str, Held] = {}
        self.when_approved: Callable[[str], None] = lambda _: None
        self._open_turns: dict[str, set[str]] = {}
        self._completions = SupportCompletionWatch(
            self.lives, instructions=support_instructions(shop.rules), backoff_seconds=timing.backoff_seconds
        )
        self._words = SupportWordWatch(
            self.lives,
            deadline_seconds=timing.deadline_seconds,
            backoff_seconds=timing.backoff_seconds,
            is_with_a_person=self.is_with_a_person,
        )
        calls.customer_of = lambda turn_id: self.lives.of[turn_id].customer_id

    # --- turns and refunds ------------------------------------------------------------------------

    def turn_written(self, *row: object) -> None:
        turn_id, conversation_id = str(row[0]), str(row[13] or "")
        if turn_id not in self.lives.of:
            self._approval_is_queued(turn_id)
        life = self.lives.of[turn_id]
        is_new = not life.state
        super().turn_written(*row)
        if conversation_id:
            self._is_in(life, conversation_id, is_new=is_new)

    def _approval_is_queued(self, approval_id: str) -> None:
        """A turn that no customer asked for: it must be an approved refund's."""
        approval = self.approvals.get(approval_id)
        life = Life(approval_id, "", self.lives.now, state="stored", customer_id="")
        self.lives.of[approval_id] = life
        is_decided = approval is not None and approval.state in {"pending", "approved"}
        self.lives.must(is_decided, "only an approved refund has a turn of its own", life)
        if approval is not None:
            life.customer_id = approval.arguments[0]

    def _is_in(self, life: Life, conversation_id: str, *, is_new: bool) -> None:
        must, held = self.lives.must, self.conversations.get(conversation_id)
        life.conversation_id = conversation_id
        if held is not None:  # else it begins in this very commit, and is told of next
            mine = held.customer_id == life.customer_id
            must(mine, "a turn is in its customer's own conversation", life, held.customer_id)
        if is_new and not life.key:  # a retry with its key is let through, and finds its turn
            must(
                not self.is_with_a_person(life),
                "no turn begins while a person has the conversation",
                life,
            )
        running = self._open_turns.setdefault(conversation_id, set())
        (running.discard if life.state == "ended" else running.add)(life.id)
        must(len(running) <= 1, "a conversation has one turn at a time", life, str(sorted(running)))

    def is_with_a_person(self, life: Life) -> bool:
        """Whether a person had the conversation already when this thread last asked who has it."""
        held = self.conversations.get(life.conversation_id)
        since = held.person_since if held is not None else None
        return since is not None and since < self._stage.scheduler.me().read_owner_at

    def refund_written(self, *row: object) -> None:
        life = self.lives.of[str(row[0])]
        before = life.gate.state if life.gate else ""
        super().refund_written(*row)
        gate, must = life.gate, self.lives.must
        if gate is None or gate.state != "claimed" or before == "claimed":
            return
        approval = self.approvals.get(life.id)
        by_person = approval is not None and approval.state == "approved"
        allowed = self._shop.allows(self.lives, life.id, customer_id=life.customer_id, by_person=by_person)
        must(allowed, "no refund outside the policy", life, f"{gate.amount_cents} of {gate.order_id}")
        self._keep_balance(life, gate.order_id)
        if approval is None:
            must(not self.is_with_a_person(life), "no refund while a person has the conversation", life)
        else:
            exact = approval.arguments == (life.customer_id, gate.order_id, gate.amount_cents)
            must(exact and by_person, "an approved refund is what was approved", life, str(approval))

    def _keep_balance(self, life: Life, order_id: str) -> None:
        """What went back, or may have, is never more than what was paid."""
        order = self._shop.find(order_id)
        gates = [other.gate for other in self.lives.of.values() if other.gate is not None]
        back = sum(g.amount_cents for g in gates if g.order_id == order_id and g.state in MAY_HAVE_MOVED)
        left = order is not None and order.refunded_before_cents + back <= order.paid_cents
        self.lives.must(left, "an order's balance is kept", life, f"{back} of {order}")

    # --- approvals and conversations --------------------------------------------------------------

    def approval_written(self, *row: object) -> None:
        approval_id, state, customer_id, order_id, amount_cents, by, expires_at_ms, conversation_id = row
        assert isinstance(amount_cents, int) and isinstance(expires_at_ms, int)  # noqa: PT018
        arguments = (str(customer_id), str(order_id), amount_cents)
        known, life = self.approvals.get(str(approval_id)), Life(str(approval_id), "", 0.0)
        must = self.lives.must
        if known is None:
            must(state == "pending", "an approval begins by waiting", life)
            known = Asked(str(approval_id), str(state), arguments, str(conversation_id), expires_at_ms)
            self.approvals[known.id] = known
            return
        must(known.is_tampered or arguments == known.arguments, "an approval is never rewritten", life)
        decided_now = known.state == "pending" and state in DECISIONS
        must(decided_now, "an approval is decided once", life, f"{known.state} -> {state} by {by}")
        if state in {"approved", "declined"}:
            in_time = self.lives.now * 1000 < known.expires_at_ms
            must(in_time, "nothing is decided after its time", life)
            must(by != arguments[0], "nobody decides about their own refund", life, str(by))
        known.state = str(state)
        if state == "approved":
            self._calls.approved(known.id, *known.arguments[1:])
            self.when_approved(known.id)

    def conversation_written(self, *row: object) -> None:
        conversation_id, customer_id, owner = map(str, row)
        held = self.conversations.setdefault(conversation_id, Held(customer_id))
        if owner == "agent":
            held.person_since = None
        elif held.person_since is None:
            held.person_since = self.lives.now

    # --- the end ----------------------------------------------------------------------------------

    def is_quiet(self, mirror: object, redis: object) -> bool:
        """Whether nothing is open, and the customers were told of every approved refund."""
        return super().is_quiet(mirror, redis) and not self._untold()  # type: ignore[arg-type]  # passed on

    def _untold(self) -> list[Asked]:
        approved = [one for one in self.approvals.values() if one.state == "approved"]
        return [one for one in approved if self._entries(one.id) != 1]

    def conclude(self, mirror: object, redis: object, *, waiting: int) -> None:
        """Hold everything against everything, once all is quiet."""
        super().conclude(mirror, redis, waiting=waiting)  # type: ignore[arg-type]  # passed on
        for approval in self.approvals.values():
            life = Life(approval.id, "", 0.0)
            self._stage.tally.endings[f"approval {approval.state}"] += 1
            for state in {"pending", approval.state}:
                told = self._entries(entry_id(f"{approval.id}:{state}")) == 1
                self.lives.must(told, "every state of an approval is told", life, state)
        for approval in self._untold():
            self.lives.must(False, "what became of an approved refund is told", Life(approval.id, "", 0.0))  # noqa: FBT003

    def _entries(self, own_id: str) -> int:
        counted = "SELECT count(*) FROM conversation_entries WHERE id = ?"
        return int(str(self._database.raw(counted, own_id)[0][0]))
