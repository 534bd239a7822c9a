"""The stand-in of a shop's own order service, serving the seeds: see docs/integrate-orders.md.

orders = Orders(today, token="secret")
orders.will("hang")                      # the next answer; then `orders.mode` again
with serve(orders) as server: ...        # ORDERS_URL = server.url, ORDERS_TOKEN = secret
assert orders.paths == ["/orders/ORD-1001"]
"""

import hmac
import json
import threading
from collections import deque
from collections.abc import Callable
from datetime import date
from typing import Any, TypeAlias
from urllib.parse import unquote

from sandbox import broken
from sandbox.answers import Answer, Delayed, Raw, Reply, Request, as_json
from sandbox.seeds import seeded_customers, seeded_orders

SLOW_SECONDS = 5.0
DRIP_SECONDS = 0.1
KEPT_PATHS = 10_000

Json: TypeAlias = dict[str, Any]
Play: TypeAlias = Callable[[Reply], Answer]
"""What becomes of the right answer."""


class Orders:
    """The service, and the handles by which tests and people make it misbehave.

    `customers` and `orders` map ids to what is served; change them as you like.
    """

    def __init__(self, today: date, *, token: str = "", mode: str = "ok") -> None:
        self.customers: dict[str, Json] = {one["id"]: one for one in seeded_customers()}
        self.orders: dict[str, Json] = {order.id: order.as_json for order in seeded_orders(today)}
        self.paths: deque[str] = deque(maxlen=KEPT_PATHS)
        self._token = token
        self._lock = threading.Lock()
        self._next: deque[str] = deque()
        self.mode = mode

    @property
    def mode(self) -> str:
        """The name of the mode that answers when nothing else was asked for."""
        return self._mode

    @mode.setter
    def mode(self, name: str) -> None:
        MODES[name]  # an unknown one is a KeyError here, not at the next request
        self._mode = name

    def will(self, *modes: str) -> None:
        """Answer the next requests in these modes, one each."""
        with self._lock:
            for name in modes:
                MODES[name]  # as above
                self._next.append(name)

    # --- the server's side ------------------------------------------------------------------------

    def opening(self, path: str) -> Raw | None:  # noqa: ARG002 - the port of sandbox.http
        """Every answer here comes after the whole request."""
        return None

    def answer(self, request: Request) -> Answer:
        """Route one request, and answer it as the mode says."""
        with self._lock:
            self.paths.append(request.path)
            mode = self._next.popleft() if self._next else self._mode
        if self._token and not self._knows(request.headers.get("authorization", "")):
            return as_json({"detail": "unknown caller"}, 401)
        if request.method != "GET":
            return as_json({"detail": "method not allowed"}, 405)
        return MODES[mode](self._find(request.path))

    def _knows(self, authorization: str) -> bool:
        return hmac.compare_digest(authorization.encode("latin-1"), f"Bearer {self._token}".encode("latin-1"))

    def _find(self, path: str) -> Reply:
        # Split first and decode then: an id with a slash in it stays one segment.
        match [unquote(segment) for segment in path.split("/")]:
            case ["", "orders", order_id] if order_id in self.orders:
                return as_json(self.orders[order_id])
            case ["", "customers", customer_id, "orders"] if customer_id in self.customers:
                own = [order for order in self.orders.values() if order["customer_id"] == customer_id]
                return as_json({"customer": self.customers[customer_id], "orders": own})
            case _:
                return as_json({"detail": "not found"}, 404)


def _changed(change: Callable[[Json], Json]) -> Play:
    """Answer with every order changed, alone or in a list."""

    def play(right: Reply) -> Answer:
        given = json.loads(right.body)
        if "orders" in given:
            return as_json({**given, "orders": [change(order) for order in given["orders"]]}, right.status)
        return as_json(change(given), right.status)

    return play


def _with(**fields: object) -> Play:
    return _changed(lambda order: {**order, **fields})


def _without(name: str) -> Play:
    return _changed(lambda order: {key: value for key, value in order.items() if key != name})


def _status(status: int) -> Play:
    return lambda _: as_json({"detail": "no"}, status)


def _raw(answer: Raw) -> Play:
    return lambda _: answer


FIELDS = (
    "id",
    "customer_id",
    "title",
    "status",
    "delivered_on",
    "final_sale",
    "currency",
    "paid_cents",
    "refunded_before_cents",
)

MODES: dict[str, Play] = {
    "ok": lambda right: right,
    "unknown-field": _with(loyalty={"points": 7}),
    "slow": lambda right: Delayed(SLOW_SECONDS, right),
    "hang": _raw(broken.hang),
    "drop": _raw(broken.drop),
    "reset": _raw(broken.reset),
    "drip-headers": lambda right: broken.dripped_headers(right, interval_seconds=DRIP_SECONDS),
    "drip-body": lambda right: broken.dripped_body(right, interval_seconds=DRIP_SECONDS),
    "cut-content-length": broken.cut_content_length,
    "cut-without-length": broken.cut_without_length,
    "gzip": broken.gzip_bomb,
    "huge": broken.huge,
    "redirect": lambda _: Reply(302, headers=(("Location", "/orders/ORD-1001"),)),
    "204": lambda _: Reply(204),
    "401": _status(401),
    "429": _status(429),
    "500": _status(500),
    "503": _status(503),
    "404-html": lambda _: broken.html(404),
    "200-html": lambda _: broken.html(200),
    "empty": lambda _: Reply(200),
    "null": lambda _: Reply(200, b"null"),
    "list": lambda _: Reply(200, b"[]"),
    "doubled-key": lambda right: Reply(200, right.body[:-1] + b', "final_sale": false}'),
    "nan": lambda right: Reply(200, right.body.replace(b'"paid_cents": ', b'"paid_cents": NaN, "old": ')),
    "another-order": _with(id="ORD-9999"),
    "status-unknown": _with(status="returned"),
    "status-list": _with(status=["delivered"]),
    "day-missing": _with(status="delivered", delivered_on=None),
    "day-number": _with(delivered_on=20261120),
    "day-with-time": _with(delivered_on="2026-11-20T10:00:00Z"),
    "day-impossible": _with(delivered_on="2026-02-30"),
    "final-sale-text": _with(final_sale="no"),
    "final-sale-null": _with(final_sale=None),
    "paid-float": _with(paid_cents=4999.0),
    "paid-text": _with(paid_cents="4999"),
    "paid-true": _with(paid_cents=True),
    "paid-negative": _with(paid_cents=-1),
    "refunded-above-paid": _with(refunded_before_cents=10**9),
    "currency-lower": _with(currency="eur"),
    **{f"without-{name}": _without(name) for name in FIELDS},
}
"""Every way the service can answer. All but the first two leave an order that cannot be judged."""
