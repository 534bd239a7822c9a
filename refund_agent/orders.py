"""Customers and their orders, and the port by which they are asked for."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal, Protocol, TypeAlias

OrderStatus: TypeAlias = Literal["pending", "processed", "shipped", "delivered", "cancelled"]

MAX_LISTED = 100
"""How many orders one question may bring."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Who is signed in, as the shop knows them."""

    id: str
    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Order:
    """One order as the shop keeps it. Cents are of its currency (ISO 4217).

    `delivered_on` is a day in UTC, and always there when the status is `delivered`.
    `refunded_before_cents` is what was paid back outside our ledger.
    """

    id: str
    customer_id: str
    title: str
    status: OrderStatus
    delivered_on: date | None
    final_sale: bool
    currency: str
    paid_cents: int
    refunded_before_cents: int = 0


@dataclass(frozen=True, slots=True)
class RefundsSoFar:
    """What our ledger says about one order's refunds, in the order's cents.

    `unconfirmed_cents` are claimed or unknown: asked for, and nobody knows yet whether the money moved.
    """

    paid_cents: int = 0
    unconfirmed_cents: int = 0
    last_paid_on: date | None = None


NOTHING_REFUNDED = RefundsSoFar()


@dataclass(frozen=True, slots=True)
class Standing:
    """The ledger's view of several orders at one moment; `today` is the database's day, in UTC."""

    today: date
    by_order: Mapping[str, RefundsSoFar] = field(default_factory=dict[str, RefundsSoFar])

    def of(self, order_id: str) -> RefundsSoFar:
        """Return one order's refunds; of an order never refunded, nothing."""
        return self.by_order.get(order_id, NOTHING_REFUNDED)


class OrdersUnavailable(Exception):
    """The orders could not be asked, or their answer made no sense. It never means "eligible"."""


class Orders(Protocol):
    """The shop's orders. Any call may raise `OrdersUnavailable`.

    Another customer's order and one that does not exist are the same: None.
    """

    def find(self, customer_id: str, order_id: str) -> Order | None:
        """Return the customer's own order, or None."""
        ...

    def list(self, customer_id: str, *, limit: int) -> Sequence[Order]:
        """Return at most `limit` of the customer's own orders, the latest delivered first."""
        ...

    def profile(self, customer_id: str) -> Profile | None:
        """Return who this is, or None."""
        ...

    def find_for_staff(self, order_id: str) -> Order | None:
        """Return an order whoever owns it. Never for a customer's turn."""
        ...


class OrderRefunds(Protocol):
    """Our ledger, asked by order; raises `StoreUnavailable`."""

    def standing(self, order_ids: Collection[str]) -> Standing:
        """Return what has been refunded of these orders, and what day it is."""
        ...


def currency_of(orders: Orders, customer_id: str, order_id: str) -> str:
    """Return the order's currency, or nothing when it cannot be asked: the figure is told all the same."""
    try:
        order = orders.find(customer_id, order_id)
    except OrdersUnavailable:
        return ""
    return "" if order is None else order.currency
