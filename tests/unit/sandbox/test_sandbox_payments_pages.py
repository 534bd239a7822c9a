"""The payments stand-in as a person drives it: its page, its ledger, its modes."""

import pytest

from sandbox.payment_modes import MODES
from sandbox.payments import Payments
from tests.unit.sandbox.payments_client import REFUND, PaymentsClient


def test_the_ledger_tells_what_moved_in_order(client: PaymentsClient) -> None:
    for order_id in ("A1", "A2"):
        client.post("/refunds", REFUND | {"order_id": order_id})
    ledger = client.get("/ledger.json").json()
    assert [(moved["order_id"], moved["amount_cents"]) for moved in ledger["moved"]] == [
        ("A1", 500),
        ("A2", 500),
    ]
    assert (ledger["requests"], ledger["mode"]) == (2, "ok")


def test_modes_are_set_over_http(payments: Payments, client: PaymentsClient) -> None:
    told = {"mode": "reject", "next": ["500"], "slow_seconds": 3, "redirect_url": "http://x.invalid/"}
    assert client.post("/mode", told).status_code == 200
    assert [client.post("/refunds", REFUND).status_code for _ in range(2)] == [500, 422]
    assert (payments.pace.slow_seconds, payments.pace.redirect_url) == (3.0, "http://x.invalid/")


def test_modes_are_set_from_the_page_and_lead_back_to_it(payments: Payments, client: PaymentsClient) -> None:
    response = client.session.post(f"{client.url}/mode", data={"mode": "hang"}, timeout=5)
    assert (response.status_code, response.url) == (200, f"{client.url}/")
    assert payments.mode == "hang"


WRONG_SETTINGS: tuple[object, ...] = (
    None,
    [],
    {"mode": "nope"},
    {"mode": 1},
    {"mode": "hang", "next": ["nope"]},
    {"mode": "hang", "next": 5},
    {"colour": "red"},
    {"mode": "hang", "slow_seconds": -1},
    {"slow_seconds": "soon"},
    {"slow_seconds": "nan"},
    {"slow_seconds": None},
)


@pytest.mark.parametrize("told", WRONG_SETTINGS)
def test_a_wrong_setting_changes_nothing(payments: Payments, client: PaymentsClient, told: object) -> None:
    before = payments.pace
    assert client.post("/mode", told).status_code == 422
    assert (payments.mode, payments.pace) == ("ok", before)
    assert client.post("/refunds", REFUND).status_code == 200


def test_reset_empties_the_ledger(payments: Payments, client: PaymentsClient) -> None:
    client.post("/refunds", REFUND)
    client.post("/reset")
    assert (payments.moved, payments.request_count) == ([], 0)


def test_the_page_shows_what_moved_as_text(client: PaymentsClient) -> None:
    client.post("/refunds", REFUND | {"order_id": "<img src=x onerror=alert(1)> \ud800"})
    page = client.get("/").text
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "<img" not in page
    assert "5.00" in page


def test_the_page_holds_a_strict_policy_and_nothing_inline(client: PaymentsClient) -> None:
    page = client.get("/")
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not any(inline in page.text for inline in ("<script", "<style", "style=", "onclick="))
    assert client.get("/style.css").headers["Content-Type"] == "text/css; charset=utf-8"


def test_the_table_of_modes_is_served(client: PaymentsClient) -> None:
    served = client.get("/modes.json").json()
    assert list(served) == list(MODES)
    assert served["accept-then-drop"] == {"moves": "yes", "about": "closes without an answer"}


def test_an_unknown_address_is_404(client: PaymentsClient) -> None:
    assert client.get("/nothing").status_code == 404
    assert client.session.delete(f"{client.url}/refunds", timeout=5).status_code == 404
