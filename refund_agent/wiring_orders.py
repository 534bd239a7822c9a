"""The composition root's part for orders and policy: our own tables, or a shop's own service."""

from dataclasses import dataclass
from datetime import date

from refund_agent.adapters.http_orders import HttpOrders
from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_ledger import SqlLedger
from refund_agent.adapters.sql_orders import SqlOrderRefunds, SqlOrders
from refund_agent.adapters.sql_seeds import SqlSeeds
from refund_agent.adapters.system_clock import SystemClock
from refund_agent.doctor import Finding, LiveCheck
from refund_agent.doctor_orders import check_orders
from refund_agent.eligibility import Eligibility
from refund_agent.orders import Orders
from refund_agent.policy import Rules
from refund_agent.policy_file import load_rules, rules_in_force
from refund_agent.ports import Turns
from refund_agent.seeds import Seeds, plant, read_seeds
from refund_agent.settings import Settings


@dataclass(frozen=True, slots=True)
class OrderParts:
    """The orders, and the policy asked about them."""

    orders: Orders
    eligibility: Eligibility


def rules_for(settings: Settings, today: date) -> Rules:
    """Return the rules in force, read once: those of a later month come with the next start."""
    chosen = settings.orders.policy_file
    return rules_in_force(today) if chosen is None else load_rules(chosen)


def diagnose_orders(settings: Settings) -> list[Finding]:
    """Judge where orders are kept and the policy, as they are today."""
    today = SystemClock().today()
    return check_orders(settings, read_rules=lambda: rules_for(settings, today), today=today)


def live_order_checks(settings: Settings) -> dict[str, LiveCheck]:
    """Give `flask doctor` what it asks of a shop's order service: for an order that nobody has."""
    chosen = settings.orders
    if not settings.support.enabled or not chosen.url:
        return {}

    def orders_can_be_asked() -> None:
        asked = HttpOrders(chosen.url, chosen.token, timeout_seconds=chosen.timeout_seconds, connections=1)
        asked.find_for_staff("flask-doctor")

    return {"the order service": orders_can_be_asked}


def build_orders(settings: Settings, database: Database, *, today: date) -> OrderParts:
    """Build the orders and their policy; raise `PolicyUnreadable`. Connects to nothing yet."""
    chosen = settings.orders
    orders: Orders = SqlOrders(database)
    if chosen.url:
        orders = HttpOrders(
            chosen.url,
            chosen.token,
            timeout_seconds=chosen.timeout_seconds,
            connections=settings.worker_concurrency,
        )
    eligibility = Eligibility(
        orders=orders,
        refunds=SqlOrderRefunds(database),
        rules=rules_for(settings, today),
        orders_are_ours=not chosen.url,
    )
    return OrderParts(orders, eligibility)


def plant_seeds(database: Database, turns: Turns) -> Seeds:
    """Write the seeds of the database's own today into our tables, and return them."""
    seeds = read_seeds(SqlOrderRefunds(database).standing([]).today)
    plant(seeds, store=SqlSeeds(database), turns=turns, ledger=SqlLedger(database))
    return seeds
