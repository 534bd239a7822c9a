"""Customers and orders to try the agent on, one order per branch of the policy; never for production.

The days are relative to today, so that day 30 stays day 30. Planting is done as often as one likes.
"""

import tomllib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final, Protocol, cast

from refund_agent.orders import Order, Profile
from refund_agent.outcomes import CallPosition, Claimed, Replied, Unknown
from refund_agent.ports import Ledger, Turns
from refund_agent.turn import NewTurn

SEEDS_FILE: Final = Path(__file__).parent / "seeds.toml"
_OWNER: Final = "flask seed"
_LOST: Final = "the answer was lost (a seeded example)"


@dataclass(frozen=True, slots=True)
class SeededOrder:
    """An order, what somebody might ask of it, and what comes of it.

    `rule` is `approved` or the name of the objection; `unknown_cents` a refund whose answer was lost.
    """

    order: Order
    asked_by: str
    asks_cents: int
    rule: str
    branch: str
    say: str
    expect: str
    unknown_cents: int = 0


@dataclass(frozen=True, slots=True)
class Seeds:
    """Everything that is planted."""

    customers: tuple[Profile, ...]
    orders: tuple[SeededOrder, ...]


class SeedStore(Protocol):
    """Where customers and orders are kept."""

    def put(self, customers: Sequence[Profile], orders: Sequence[Order], /) -> None:
        """Write these, over what was there under their ids, in one transaction."""
        ...


def read_seeds(today: date) -> Seeds:
    """Return the seeds as they are on this day."""
    given = _read()
    customers = tuple(Profile(one["id"], one["name"], one["email"]) for one in given["customers"])
    return Seeds(customers, tuple(_seeded_order(one, today) for one in given["orders"]))


def things_to_say() -> list[Mapping[str, str]]:
    """Return what to say of each seeded order, by whom (a customer's id), and what to expect."""
    return [
        {
            "customer_id": one.get("asked_by", one["customer_id"]),
            "about": one["branch"],
            "say": one["say"],
            "expect": one["expect"],
        }
        for one in _read()["orders"]
    ]


def plant(seeds: Seeds, *, store: SeedStore, turns: Turns, ledger: Ledger) -> None:
    """Write the customers and orders, and each lost refund by the very path that real ones take."""
    store.put(seeds.customers, [seeded.order for seeded in seeds.orders])
    for seeded in seeds.orders:
        if seeded.unknown_cents:
            _lose_a_refund(seeded, turns=turns, ledger=ledger)


def _read() -> dict[str, list[dict[str, Any]]]:
    return cast("dict[str, list[dict[str, Any]]]", tomllib.loads(SEEDS_FILE.read_text(encoding="utf-8")))


def _seeded_order(given: Mapping[str, Any], today: date) -> SeededOrder:
    days: int | None = given.get("delivered_days_ago")
    order = Order(
        id=given["id"],
        customer_id=given["customer_id"],
        title=given["title"],
        status=given["status"],
        delivered_on=None if days is None else today - timedelta(days=days),
        final_sale=given.get("final_sale", False),
        currency=given["currency"],
        paid_cents=given["paid_cents"],
        refunded_before_cents=given.get("refunded_before_cents", 0),
    )
    return SeededOrder(
        order=order,
        asked_by=given.get("asked_by", order.customer_id),
        asks_cents=given["asks_cents"],
        rule=given["rule"],
        branch=given["branch"],
        say=given["say"],
        expect=given["expect"],
        unknown_cents=given.get("unknown_cents", 0),
    )


def _lose_a_refund(seeded: SeededOrder, *, turns: Turns, ledger: Ledger) -> None:
    """Leave one unknown refund of the order behind, once: a resolved one does not come back."""
    order = seeded.order
    turn_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"seed:{order.id}"))
    if turns.find(turn_id) is not None:
        return
    turns.create(NewTurn(turn_id, order.customer_id, f"Please refund {order.id}.", agent="support"))
    turn = turns.begin(turn_id, owner=_OWNER)
    if turn is None:
        return
    claim = ledger.claim(turn, call=CallPosition(1, 0), order_id=order.id, amount_cents=seeded.unknown_cents)
    if isinstance(claim, Claimed):
        ledger.settle(claim.record, epoch=turn.epoch, answer=Unknown(_LOST))
    turns.end(
        turn, Replied("I asked for your refund, but no clear answer came back. A colleague will check.")
    )
