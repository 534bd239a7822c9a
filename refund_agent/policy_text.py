"""The policy in words, for people and for the model, rendered from the same rules that decide.

No figure is written here: a text that says another number than the code applies cannot be made.
"""

from collections.abc import Callable, Mapping
from typing import assert_never, get_args

from refund_agent import reasons
from refund_agent.money import write_cents
from refund_agent.orders import OrderStatus
from refund_agent.policy import (
    Approved,
    Decision,
    Denied,
    Escalated,
    Fact,
    Facts,
    RuleJudgement,
    RuleName,
    Rules,
)

_IN_ORDER = get_args(OrderStatus)

_PAGE = """\
# Refund policy

Version {version}. Rendered from `refund_agent/policies/{version}.toml` by `flask policy text`: the same
file gives the numbers that the code applies and those that the model is told.

A refund is approved when no rule objects. The rules are asked in this order, the first objection is the
answer, and every decision keeps the version it was made under.

{rules}

What goes to a person waits for {expiry} and then expires; expired ones are counted and shown.

Amounts are whole cents of the order's currency. The facts are read again, under a lock, at the moment a
refund is claimed: what was said earlier in a conversation decides nothing.
"""


def rule_texts(rules: Rules) -> dict[RuleName, str]:
    """Return every rule as one sentence, in the order in which they are asked."""
    listed: list[str] = [status for status in _IN_ORDER if status in rules.refundable_statuses]
    others: list[str] = [status for status in _IN_ORDER if status not in rules.refundable_statuses]
    limit = write_cents(rules.escalate_above_cents)
    once = "An order is refunded once at most. " if rules.one_refund_per_order else ""
    final = "may be refunded like any other" if rules.refund_final_sale else "are never refunded"
    last, first_out = rules.return_window_days, rules.return_window_days + 1
    return {
        "order_not_found": "The order belongs to the signed-in customer; no other order exists for them.",
        "not_delivered": f"The order is {_either(listed)}{f', not {_either(others)}' if others else ''}.",
        "final_sale": f"Final-sale items {final}.",
        "return_window_closed": f"The return window is {_days(last)} from the day of delivery (days in UTC): "
        f"day {last} is inside, day {first_out} is not.",
        "already_refunded": f"{once}Earlier refunds and this one together never exceed what was paid, and "
        "while the outcome of an earlier refund is not known the order gets no other.",
        "amount_not_refundable": "The amount is more than nothing and not more than what is left to refund.",
        "needs_approval": f"More than {limit} in the order's currency is decided by a person; "
        f"exactly {limit} is not.",
    }


def for_people(rules: Rules) -> str:
    """Return the policy as a page of Markdown: docs/policy.md."""
    lines = [
        f"{n}. **{_title(name)}.** {text}" for n, (name, text) in enumerate(rule_texts(rules).items(), 1)
    ]
    return _PAGE.format(
        version=rules.version, rules="\n".join(lines), expiry=_days(rules.approval_expiry_days)
    )


def for_model(rules: Rules) -> str:
    """Return the policy as the model is told it."""
    lines = [f"{number}. {text}" for number, text in enumerate(rule_texts(rules).values(), 1)]
    return "\n".join([f"Refund policy {rules.version}. The first rule that objects is the answer.", *lines])


def say(decision: Decision) -> str:
    """Say a decision in one plain sentence that a customer may read."""
    match decision:
        case Approved(amount_cents):
            return f"Within the policy: {write_cents(amount_cents)} may be refunded."
        case Denied(rule, _, facts):
            return _SAY[rule](facts)
        case Escalated(rule, _, _, facts):
            return _SAY[rule](facts)
        case _:
            assert_never(decision)


def finding_line(found: RuleJudgement, rules: Rules) -> str:
    """Write one finding for staff: verdict, rule, the rule's words, and every fact on a second line."""
    line = f"{found.verdict:<10} {found.rule:<22} {rule_texts(rules)[found.rule]}"
    facts = [
        f"{name.removesuffix('_cents')}={_fact(name, value, found.facts)}"
        for name, value in found.facts.items()
        if name != "currency"
    ]
    return "\n".join([line, f"{'':<11}{', '.join(facts)}"]) if facts else line


def _not_found(_facts: Facts) -> str:
    return reasons.NOT_FOUND.say()


def _not_delivered(facts: Facts) -> str:
    return reasons.NOT_DELIVERED.say(status=str(facts["status"]))


def _final_sale(_facts: Facts) -> str:
    return reasons.FINAL_SALE.say()


def _window_closed(facts: Facts) -> str:
    days = facts["days_since_delivery"]
    if days is None:
        return reasons.WINDOW_UNKNOWN.say()
    return reasons.WINDOW_CLOSED.say(
        days=str(days), day=str(facts["delivered_on"]), window=str(facts["return_window_days"])
    )


def _already_refunded(facts: Facts) -> str:
    if facts["unconfirmed_cents"]:
        return reasons.UNDER_REVIEW.say()
    refunded, paid, day = (
        _money(facts, "refunded_cents"),
        _money(facts, "paid_cents"),
        facts["last_refunded_on"],
    )
    if day:
        return reasons.REFUNDED_ON.say(day=str(day), amount=refunded, paid=paid)
    return reasons.REFUNDED.say(amount=refunded, paid=paid)


def _amount_not_refundable(facts: Facts) -> str:
    return reasons.NOT_THIS_MUCH.say(amount=_money(facts, "refundable_cents"))


def _needs_approval(facts: Facts) -> str:
    return reasons.NEEDS_APPROVAL.say(amount=_money(facts, "escalate_above_cents"))


_SAY: Mapping[RuleName, Callable[[Facts], str]] = {
    "order_not_found": _not_found,
    "not_delivered": _not_delivered,
    "final_sale": _final_sale,
    "return_window_closed": _window_closed,
    "already_refunded": _already_refunded,
    "amount_not_refundable": _amount_not_refundable,
    "needs_approval": _needs_approval,
}


def _fact(name: str, value: Fact, facts: Facts) -> str:
    if name.endswith("_cents"):
        return _money(facts, name)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _money(facts: Facts, name: str) -> str:
    cents, currency = facts[name], facts.get("currency", "")
    return write_cents(cents, str(currency)) if isinstance(cents, int) else "none"


def _title(rule: RuleName) -> str:
    return rule.replace("_", " ").capitalize()


def _days(days: int) -> str:
    return "1 day" if days == 1 else f"{days} days"


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
