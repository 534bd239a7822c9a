"""A shop's own order service: what is clearly an order is one, and everything else is "cannot be asked"."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

import pytest
from structlog.testing import capture_logs

from refund_agent.adapters.http_orders import HttpOrders
from refund_agent.orders import Order, OrdersUnavailable, Profile
from sandbox.http import serve
from sandbox.orders import MODES, Orders

TODAY = date(2026, 11, 20)
TOKEN = "orders-token-of-the-tests"
WALL_SECONDS = 0.4

KETTLE = Order(
    id="ORD-1001",
    customer_id="cust-ada",
    title="Electric kettle",
    status="delivered",
    delivered_on=TODAY - timedelta(days=3),
    final_sale=False,
    currency="EUR",
    paid_cents=4_999,
)
HARMLESS = {"ok", "unknown-field"}


@dataclass
class Shop:
    service: Orders
    url: str
    client: HttpOrders


@pytest.fixture(scope="module")
def running() -> Iterator[Shop]:
    service = Orders(TODAY, token=TOKEN)
    with serve(service) as server:
        client = HttpOrders(f"{server.url}/", TOKEN, timeout_seconds=WALL_SECONDS, connections=4)
        yield Shop(service, server.url, client)
        client.close()


@pytest.fixture
def shop(running: Shop) -> Iterator[Shop]:
    running.service.paths.clear()
    yield running
    running.service.mode = "ok"


def test_an_order_is_read_whole(shop: Shop) -> None:
    assert shop.client.find("cust-ada", "ORD-1001") == KETTLE
    assert shop.service.paths == type(shop.service.paths)(["/orders/ORD-1001"])


def test_fields_that_we_do_not_know_are_passed_over(shop: Shop) -> None:
    shop.service.mode = "unknown-field"
    assert shop.client.find("cust-ada", "ORD-1001") == KETTLE


@pytest.mark.fault(267)
def test_somebody_elses_order_and_a_missing_one_are_the_same(shop: Shop) -> None:
    assert shop.client.find("cust-ada", "ORD-2001") is None
    assert shop.client.find("cust-ada", "ORD-0000") is None
    staff = shop.client.find_for_staff("ORD-2001")
    assert staff is not None
    assert staff.customer_id == "cust-ben"


def test_a_customers_orders_come_with_the_latest_delivered_first(shop: Shop) -> None:
    orders = shop.client.list("cust-ada", limit=3)
    assert [order.id for order in orders] == ["ORD-1001", "ORD-1006", "ORD-1012"]
    assert all(order.customer_id == "cust-ada" for order in shop.client.list("cust-ada", limit=100))
    assert shop.client.profile("cust-ada") == Profile("cust-ada", "Ada Lindqvist", "ada@example.com")


def test_a_customer_without_an_account_has_nothing(shop: Shop) -> None:
    assert shop.client.profile("cust-none") is None
    assert shop.client.list("cust-none", limit=10) == []


@pytest.mark.parametrize("mode", sorted(set(MODES) - HARMLESS))
def test_whatever_is_not_clearly_an_order_cannot_be_asked(shop: Shop, mode: str) -> None:
    shop.service.mode = mode
    began = time.monotonic()
    with pytest.raises(OrdersUnavailable) as unavailable:
        shop.client.find("cust-ada", "ORD-1001")
    assert time.monotonic() - began < WALL_SECONDS + 0.4
    assert TOKEN not in str(unavailable.value)
    assert "4999" not in str(unavailable.value)


@pytest.mark.parametrize("mode", ["paid-float", "without-final_sale", "500", "hang", "another-order"])
def test_one_wrong_order_makes_the_whole_list_one_that_cannot_be_asked(shop: Shop, mode: str) -> None:
    shop.service.mode = mode
    with pytest.raises(OrdersUnavailable):
        shop.client.list("cust-ada", limit=10)


def test_a_list_with_somebody_elses_order_in_it_is_not_believed(shop: Shop) -> None:
    MODES["foreign"] = lambda right: type(right)(
        200, right.body.replace(b'"customer_id": "cust-ada"', b'"customer_id": "cust-ben"', 1)
    )
    shop.service.mode = "foreign"
    with pytest.raises(OrdersUnavailable, match="customer_id"):
        shop.client.list("cust-ada", limit=10)
    shop.service.mode = "ok"
    del MODES["foreign"]


@pytest.mark.parametrize(
    ("order_id", "path"),
    [
        ("a?b", "/orders/a%3Fb"),
        ("a#b", "/orders/a%23b"),
        ("a/b", "/orders/a%2Fb"),
        ("#W26", "/orders/%23W26"),
        ("%2e%2e", "/orders/%252e%252e"),
        ("x y\r\nHost: z", "/orders/x%20y%0D%0AHost%3A%20z"),
        ("Ä☂", "/orders/%C3%84%E2%98%82"),
        ("//evil.example", "/orders/%2F%2Fevil.example"),
        ("ORD-1001?customer=x", "/orders/ORD-1001%3Fcustomer%3Dx"),
    ],
)
def test_an_id_is_one_segment_of_the_path_whatever_it_holds(shop: Shop, order_id: str, path: str) -> None:
    assert shop.client.find("cust-ada", order_id) is None
    assert list(shop.service.paths) == [path]


@pytest.mark.parametrize(
    "order_id",
    ["", ".", "..", "../x", "..\\x", "x/..", "a/../../customers", "x" * 129, "a\x00b", "\ud800"],
)
def test_an_id_that_could_lead_elsewhere_is_never_sent(shop: Shop, order_id: str) -> None:
    assert shop.client.find("cust-ada", order_id) is None
    assert shop.client.profile(order_id) is None
    assert list(shop.service.paths) == []


def test_a_wrong_token_is_told_to_somebody(shop: Shop) -> None:
    stranger = HttpOrders(shop.url, "wrong", timeout_seconds=WALL_SECONDS, connections=1)
    with capture_logs() as logs, pytest.raises(OrdersUnavailable, match="HTTP 401"):
        stranger.find("cust-ada", "ORD-1001")
    stranger.close()
    assert logs == [{"event": "orders_locked_us_out", "status": 401, "log_level": "error"}]


def test_a_service_that_is_not_there_cannot_be_asked() -> None:
    nobody = HttpOrders("http://127.0.0.1:9", "", timeout_seconds=WALL_SECONDS, connections=1)
    with pytest.raises(OrdersUnavailable):
        nobody.find("cust-ada", "ORD-1001")
    nobody.close()


def test_a_title_is_one_short_line(shop: Shop) -> None:
    shop.service.orders["ORD-1002"]["title"] = "A\n\x1b[31mlamp\u202e " + "x" * 1000
    order = shop.client.find("cust-ada", "ORD-1002")
    assert order is not None
    assert order.title.startswith("A [31mlamp xx")
    assert len(order.title) == 200
