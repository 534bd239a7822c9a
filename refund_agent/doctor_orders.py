"""What is unsafe or cannot work in where orders are kept, and in the policy."""

from collections.abc import Callable
from datetime import date

from refund_agent.doctor import Finding, is_in_the_clear, severity_of_a_risk
from refund_agent.money import write_cents
from refund_agent.policy import Rules
from refund_agent.policy_file import MONTH, PolicyUnreadable
from refund_agent.settings import Settings


def check_orders(settings: Settings, *, read_rules: Callable[[], Rules], today: date) -> list[Finding]:
    """Judge the order service's settings, and the policy that `read_rules` reads or fails to read.

    Nothing is found while there is no support agent.
    """
    if not settings.support.enabled:
        return []
    found = (_in_the_clear(settings), _no_token(settings), *_policy(read_rules, today))
    return [finding for finding in found if finding]


def _in_the_clear(settings: Settings) -> Finding | None:
    if not is_in_the_clear(settings.orders.url):
        return None
    why = "Whoever is on the way could read orders, and make any of them refundable"
    return Finding(severity_of_a_risk(settings), "ORDERS_URL is not https", why, "Use https")


def _no_token(settings: Settings) -> Finding | None:
    if not settings.orders.url or settings.orders.token:
        return None
    why = "An order service that asks for no token shows every customer's orders to anybody"
    return Finding(
        severity_of_a_risk(settings), "ORDERS_TOKEN is not set", why, "Set what the order service expects"
    )


def _policy(read_rules: Callable[[], Rules], today: date) -> list[Finding]:
    try:
        rules = read_rules()
    except PolicyUnreadable as unreadable:
        why = f"Without it no refund can be judged ({unreadable})"
        return [Finding("refuse", "the policy cannot be read", why, "Fix the file, or unset POLICY_FILE")]
    limit = write_cents(rules.escalate_above_cents)
    why = f"{rules.return_window_days} days to return, a person decides above {limit}"
    in_force = Finding("note", f"policy {rules.version} is in force", why, "See `flask policy text`")
    return [in_force, *_odd_name(rules, today)]


def _odd_name(rules: Rules, today: date) -> list[Finding]:
    """A file chosen by POLICY_FILE is obeyed, whatever its name says; its name is each decision's version."""
    if not MONTH.fullmatch(rules.version):
        why = "Every decision is stored with this name as its version, and no month can be told from it"
        return [Finding("warn", "POLICY_FILE is not named for its month", why, "Name it like 2026-11.toml")]
    if rules.version > f"{today:%Y-%m}":
        why = "It is applied already"
        return [
            Finding("warn", f"POLICY_FILE is of a month to come, {rules.version}", why, "Unset it until then")
        ]
    return []
