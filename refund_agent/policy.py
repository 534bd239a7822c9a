"""The refund policy: an ordered table of small pure functions over one case and one set of rules.

The first objection wins and is named. A new rule is one function and one line of `RULES`. The numbers
come from a dated file, `policy_file`; what is said about a decision comes from `policy_text`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal, TypeAlias

from refund_agent.orders import NOTHING_REFUNDED, Order, OrderStatus, RefundsSoFar

RuleName: TypeAlias = Literal[
    "order_not_found",
    "not_delivered",
    "final_sale",
    "return_window_closed",
    "already_refunded",
    "amount_not_refundable",
    "needs_approval",
]
"""Each rule has the name of its objection."""

Fact: TypeAlias = str | int | bool | date | None
Facts: TypeAlias = Mapping[str, Fact]


@dataclass(frozen=True, slots=True)
class Rules:
    """The policy's numbers as one dated file has them; `version` is the file's name.

    `escalate_above_cents` counts in the currency of whichever order is judged.
    """

    version: str
    return_window_days: int
    one_refund_per_order: bool
    escalate_above_cents: int
    approval_expiry_days: int
    refundable_statuses: frozenset[OrderStatus]
    refund_final_sale: bool


@dataclass(frozen=True, slots=True)
class Case:
    """What is asked and by whom, with every fact a rule may need. Pure data, read at one moment.

    `order` is None when there is none of that id. `approved_by_person`: the amount limit was already
    judged by staff; every other rule holds all the same.
    """

    customer_id: str
    order: Order | None
    amount_cents: int
    today: date
    refunds: RefundsSoFar = NOTHING_REFUNDED
    approved_by_person: bool = False

    @property
    def known(self) -> Order:
        """The customer's order; asked for only once the first rule has passed."""
        if self.order is None:
            raise AssertionError("a rule looked at an order that does not exist")
        return self.order

    @property
    def refunded_cents(self) -> int:
        """What was paid back, may have been paid back, or is being paid back."""
        refunds = self.refunds
        return self.known.refunded_before_cents + refunds.paid_cents + refunds.unconfirmed_cents

    @property
    def refundable_cents(self) -> int:
        """What is left of what was paid; never negative."""
        return max(0, self.known.paid_cents - self.refunded_cents)


@dataclass(frozen=True, slots=True)
class LockedFacts:
    """What a claim finds under its lock. `order` is None when our tables do not have it."""

    order: Order | None
    refunds: RefundsSoFar
    today: date


RuleVerdict: TypeAlias = Literal["passes", "objects", "not asked"]


@dataclass(frozen=True, slots=True)
class RuleJudgement:
    """One rule's verdict on a case, and the facts that it looked at."""

    rule: RuleName
    verdict: RuleVerdict
    facts: Facts = field(default_factory=dict[str, Fact], hash=False)


@dataclass(frozen=True, slots=True)
class Approved:
    """Every rule passed: this amount may be refunded. `findings`: the rules as they were asked, in order."""

    amount_cents: int
    version: str
    findings: tuple[RuleJudgement, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Denied:
    """A rule said no. An order of somebody else's and one that does not exist leave the same facts: none."""

    rule: RuleName
    version: str
    facts: Facts = field(default_factory=dict[str, Fact], hash=False)
    findings: tuple[RuleJudgement, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Escalated:
    """Nothing is wrong, but a person must decide."""

    rule: RuleName
    version: str
    amount_cents: int
    facts: Facts = field(default_factory=dict[str, Fact], hash=False)
    findings: tuple[RuleJudgement, ...] = field(default=(), compare=False, repr=False)


Refusal: TypeAlias = Denied | Escalated
Decision: TypeAlias = Approved | Refusal

PolicyCheck: TypeAlias = Callable[[LockedFacts], Decision]
"""The policy as the ledger runs it, inside a claim's transaction. Pure; asks nothing outside."""

RuleResult: TypeAlias = tuple[bool, Facts]
"""Whether a rule passes, and the facts that it looked at."""


def decide(case: Case, rules: Rules) -> Decision:
    """Judge a case by every rule in order; the first objection wins, and no rule after it is asked."""
    asked: list[RuleJudgement] = []
    for found in _findings(case, rules):
        asked.append(found)
        if found.verdict == "objects":
            if found.rule == "needs_approval":
                return Escalated(
                    found.rule, rules.version, case.amount_cents, found.facts, findings=tuple(asked)
                )
            return Denied(found.rule, rules.version, found.facts, findings=tuple(asked))
    return Approved(case.amount_cents, rules.version, findings=tuple(asked))


def explain(case: Case, rules: Rules) -> tuple[RuleJudgement, ...]:
    """Return every rule's finding, in order, also after an objection; for staff.

    Where the order is not the customer's nothing further is asked.
    """
    return tuple(_findings(case, rules))


def _findings(case: Case, rules: Rules) -> Iterator[RuleJudgement]:
    mine = True
    for name, judge in RULES:
        if not mine:
            yield RuleJudgement(name, "not asked")
            continue
        passes, facts = judge(case, rules)
        mine = passes or name != "order_not_found"
        yield RuleJudgement(name, "passes" if passes else "objects", facts)


def belongs_to_customer(case: Case, _rules: Rules) -> RuleResult:
    """Somebody else's order does not exist, and nothing is said about it."""
    return case.order is not None and case.order.customer_id == case.customer_id, {}


def is_delivered(case: Case, rules: Rules) -> RuleResult:
    """Delivered, and not on a day that is yet to come."""
    order = case.known
    passes = order.status in rules.refundable_statuses
    if order.status == "delivered":
        passes = passes and order.delivered_on is not None and order.delivered_on <= case.today
    return passes, {"status": order.status, "delivered_on": order.delivered_on}


def is_not_final_sale(case: Case, rules: Rules) -> RuleResult:
    """Final-sale items are never refunded."""
    return rules.refund_final_sale or not case.known.final_sale, {"final_sale": case.known.final_sale}


def window_is_open(case: Case, rules: Rules) -> RuleResult:
    """The last day of the window is inside it. An order that is not delivered has no window yet."""
    delivered_on, days = case.known.delivered_on, rules.return_window_days
    age = None if delivered_on is None else (case.today - delivered_on).days
    facts: Facts = {"delivered_on": delivered_on, "days_since_delivery": age, "return_window_days": days}
    if age is None:
        return case.known.status != "delivered", facts
    return age <= days, facts


def is_not_refunded_yet(case: Case, rules: Rules) -> RuleResult:
    """Earlier refunds leave room for this one. An unconfirmed one blocks its order until it is resolved."""
    refunded, unconfirmed = case.refunded_cents, case.refunds.unconfirmed_cents
    facts: Facts = {
        "paid_cents": case.known.paid_cents,
        "refunded_cents": refunded,
        "unconfirmed_cents": unconfirmed,
        "last_refunded_on": case.refunds.last_paid_on,
        "one_refund_per_order": rules.one_refund_per_order,
        "currency": case.known.currency,
    }
    if refunded == 0:
        return True, facts
    room = refunded + case.amount_cents <= case.known.paid_cents
    return room and unconfirmed == 0 and not rules.one_refund_per_order, facts


def amount_is_refundable(case: Case, _rules: Rules) -> RuleResult:
    """More than nothing, and not more than is left."""
    facts: Facts = {
        "amount_cents": case.amount_cents,
        "refundable_cents": case.refundable_cents,
        "currency": case.known.currency,
    }
    return 0 < case.amount_cents <= case.refundable_cents, facts


def needs_no_person(case: Case, rules: Rules) -> RuleResult:
    """The limit itself is inside; one cent above it goes to a person."""
    limit = rules.escalate_above_cents
    facts: Facts = {
        "amount_cents": case.amount_cents,
        "escalate_above_cents": limit,
        "approved_by_person": case.approved_by_person,
        "currency": case.known.currency,
    }
    return case.approved_by_person or case.amount_cents <= limit, facts


RULES: tuple[tuple[RuleName, Callable[[Case, Rules], RuleResult]], ...] = (
    ("order_not_found", belongs_to_customer),
    ("not_delivered", is_delivered),
    ("final_sale", is_not_final_sale),
    ("return_window_closed", window_is_open),
    ("already_refunded", is_not_refunded_yet),
    ("amount_not_refundable", amount_is_refundable),
    ("needs_approval", needs_no_person),
)
"""In the order of the contract."""
