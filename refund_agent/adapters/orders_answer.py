"""What an answer of the shop's order service means: a pure reading, no network.

A field that is missing or wrong makes the whole answer one that was not understood, never a guess. A
field that we do not know is ignored.
"""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Final, NoReturn, TypeAlias, cast, get_args

from refund_agent import strict_json
from refund_agent.orders import Order, OrderStatus, Profile

MAX_BODY_BYTES: Final = 1024 * 1024
MAX_ID_LENGTH: Final = 128
MAX_TEXT_LENGTH: Final = 200

_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CURRENCY: Final = re.compile(r"[A-Z]{3}")

_Object: TypeAlias = Mapping[str, Any]


class NotUnderstood(ValueError):
    """The answer is not what docs/integrate-orders.md says; the message names the field, and no value."""


def read_object(body: bytes) -> _Object:
    """Return the one JSON object in `body`; raise `NotUnderstood`."""
    try:
        given = strict_json.parse(body, max_bytes=MAX_BODY_BYTES)
    except strict_json.NotJson as error:
        raise NotUnderstood(str(error)) from None
    return _as_object(given, "the body")


def read_order(given: object) -> Order:
    """Read one order."""
    fields = _as_object(given, "an order")
    status = _status(fields)
    delivered_on = _day(fields)
    if status == "delivered" and delivered_on is None:
        _wrong("delivered_on", "is missing in a delivered order")
    paid = _cents(fields, "paid_cents")
    refunded = _cents(fields, "refunded_before_cents")
    if refunded > paid:
        _wrong("refunded_before_cents", "is more than was paid")
    return Order(
        id=_identifier(fields, "id"),
        customer_id=_identifier(fields, "customer_id"),
        title=_words(fields, "title"),
        status=status,
        delivered_on=delivered_on,
        final_sale=_yes_or_no(fields, "final_sale"),
        currency=_currency(fields),
        paid_cents=paid,
        refunded_before_cents=refunded,
    )


def read_listing(given: _Object, *, customer_id: str) -> tuple[Profile, list[Order]]:
    """Read a customer with their orders; somebody else's among them makes the answer a wrong one."""
    fields = _as_object(given.get("customer"), "customer")
    profile = Profile(_identifier(fields, "id"), _words(fields, "name"), _words(fields, "email"))
    listed = given.get("orders")
    if not isinstance(listed, list):
        _wrong("orders", "is not a list")
    orders = [read_order(entry) for entry in cast("list[object]", listed)]
    if any(owner != customer_id for owner in [profile.id, *(order.customer_id for order in orders)]):
        _wrong("customer_id", "is not the one that was asked for")
    if len({order.id for order in orders}) != len(orders):
        _wrong("id", "appears twice")
    return profile, orders


def _status(fields: _Object) -> OrderStatus:
    value = fields.get("status")
    if value not in get_args(OrderStatus):
        _wrong("status", "is none of the known ones")
    return cast("OrderStatus", value)


def _day(fields: _Object) -> date | None:
    if "delivered_on" not in fields:
        _wrong("delivered_on", "is missing")
    value = fields["delivered_on"]
    if value is None:
        return None
    if not isinstance(value, str) or not _DAY.fullmatch(value):
        _wrong("delivered_on", "is not a day such as 2026-11-20")
    try:
        return date.fromisoformat(value)
    except ValueError:
        _wrong("delivered_on", "is not a day of the calendar")


def _cents(fields: _Object, name: str) -> int:
    value = fields.get(name)
    if type(value) is not int or value < 0:
        _wrong(name, "is not a whole number of cents")
    return value


def _yes_or_no(fields: _Object, name: str) -> bool:
    value = fields.get(name)
    if not isinstance(value, bool):
        _wrong(name, "is not true or false")
    return value


def _currency(fields: _Object) -> str:
    value = fields.get("currency")
    if not isinstance(value, str) or not _CURRENCY.fullmatch(value):
        _wrong("currency", "is not three capital letters")
    return value


def _identifier(fields: _Object, name: str) -> str:
    value = _text(fields, name)
    if not 0 < len(value) <= MAX_ID_LENGTH:
        _wrong(name, f"is not a text of 1 to {MAX_ID_LENGTH} characters")
    return value


def _words(fields: _Object, name: str) -> str:
    """A text that people and the model read: one line, and not a long one."""
    line = " ".join(_text(fields, name).split())
    printable = "".join(character for character in line if character.isprintable())
    return printable[:MAX_TEXT_LENGTH]


def _text(fields: _Object, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or strict_json.unsafe_character(value):
        _wrong(name, "is not a text")
    return value


def _as_object(value: object, what: str) -> _Object:
    if not isinstance(value, dict):
        _wrong(what, "is not an object")
    return cast("_Object", value)


def _wrong(name: str, what: str) -> NoReturn:
    raise NotUnderstood(f"{name} {what}")
