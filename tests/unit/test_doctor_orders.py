"""What is found in where orders are kept, and in the policy."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from refund_agent.doctor import Finding
from refund_agent.doctor_orders import check_orders
from refund_agent.policy import Rules
from refund_agent.policy_file import PolicyUnreadable
from refund_agent.settings import Settings
from refund_agent.settings_orders import OrderSettings
from refund_agent.settings_support import SupportSettings
from tests.policy_cases import RULES

SHOP = OrderSettings(url="https://shop.example/api", token="SECRET-0123456789")
TODAY = date(2026, 11, 20)


def found(
    app_env: Any = "production",
    *,
    orders: OrderSettings = SHOP,
    read_rules: Callable[[], Rules] = lambda: RULES,
    auth_mode: Any = "dev",
) -> list[Finding]:
    settings = Settings(app_env=app_env, support=SupportSettings(auth_mode=auth_mode), orders=orders)
    return check_orders(settings, read_rules=read_rules, today=TODAY)


def wrong(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(one.severity, one.what.split()[0]) for one in findings if one.severity != "note"]


def test_the_policy_in_force_is_shown_with_its_version_and_figures() -> None:
    (note,) = found()
    assert note.severity == "note"
    assert "2026-11" in note.what
    assert "30 days" in note.why
    assert "500.00" in note.why


def test_nothing_is_asked_while_the_support_agent_is_off() -> None:
    assert found(orders=replace(SHOP, token=""), read_rules=unreadable, auth_mode="jwt") == []


def unreadable() -> Rules:
    raise PolicyUnreadable("2026-11.toml: return_window_days is missing")


@pytest.mark.parametrize("app_env", ["production", "development"])
def test_without_a_readable_policy_nothing_starts_and_the_file_and_key_are_named(app_env: str) -> None:
    (finding,) = found(app_env, read_rules=unreadable)
    assert finding.severity == "refuse"
    assert "return_window_days is missing" in finding.why


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2026-11", []),
        ("2026-01", []),
        ("2026-12", [("warn", "POLICY_FILE")]),
        ("ours", [("warn", "POLICY_FILE")]),
    ],
)
def test_a_policy_with_a_strange_date_is_a_warning(version: str, expected: list[tuple[str, str]]) -> None:
    assert wrong(found(read_rules=lambda: replace(RULES, version=version))) == expected


@pytest.mark.parametrize(
    ("orders", "subject"),
    [
        (replace(SHOP, url="http://shop.example/api"), "ORDERS_URL"),
        (replace(SHOP, token=""), "ORDERS_TOKEN"),
    ],
)
def test_production_refuses_an_order_service_that_anybody_could_play(
    orders: OrderSettings, subject: str
) -> None:
    assert wrong(found(orders=orders)) == [("refuse", subject)]
    assert wrong(found("development", orders=orders)) == [("warn", subject)]


def test_an_order_service_on_this_machine_and_our_own_tables_are_safe() -> None:
    assert wrong(found(orders=replace(SHOP, url="http://127.0.0.1:9/api"))) == []
    assert wrong(found(orders=OrderSettings())) == []


def test_no_finding_quotes_a_token_or_an_address() -> None:
    told = " ".join(map(str, found(orders=replace(SHOP, url="http://SECRET.example"))))
    assert "SECRET" not in told
