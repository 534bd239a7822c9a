"""The customers and orders to try the agent on, as `flask seed` plants them: read from the same file.

for seeded in seeded_orders(today): print(seeded.branch, seeded.say, seeded.expect)
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, TypeAlias

SEEDS_FILE = Path(__file__).parents[1] / "refund_agent" / "seeds.toml"

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SeededOrder:
    """An order as a shop's service gives it, what `asked_by` might say of it, and what comes of that.

    `rule` is `approved` or the name of the policy's objection.
    """

    id: str
    asked_by: str
    asks_cents: int
    rule: str
    branch: str
    say: str
    expect: str
    as_json: Json


def seeded_customers() -> list[Json]:
    """Return the customers: `id`, `name` and `email`."""
    return list(_read()["customers"])


def seeded_orders(today: date) -> list[SeededOrder]:
    """Return the orders as they are on this day."""
    return [_order(given, today) for given in _read()["orders"]]


def table(orders: Iterable[SeededOrder]) -> list[str]:
    """Return lines for a terminal: per order its branch, who says what, and what to expect."""
    lines: list[str] = []
    for order in orders:
        lines += [
            f"{order.id}  {order.branch}",
            f"    {order.asked_by} says: {order.say}",
            f"    expect: {order.expect}",
        ]
    return lines


def _read() -> dict[str, list[Json]]:
    return tomllib.loads(SEEDS_FILE.read_text(encoding="utf-8"))


def _order(given: Mapping[str, Any], today: date) -> SeededOrder:
    days: int | None = given.get("delivered_days_ago")
    return SeededOrder(
        id=given["id"],
        asked_by=given.get("asked_by", given["customer_id"]),
        asks_cents=given["asks_cents"],
        rule=given["rule"],
        branch=given["branch"],
        say=given["say"],
        expect=given["expect"],
        as_json={
            "id": given["id"],
            "customer_id": given["customer_id"],
            "title": given["title"],
            "status": given["status"],
            "delivered_on": None if days is None else (today - timedelta(days=days)).isoformat(),
            "final_sale": given.get("final_sale", False),
            "currency": given["currency"],
            "paid_cents": given["paid_cents"],
            "refunded_before_cents": given.get("refunded_before_cents", 0),
        },
    )
