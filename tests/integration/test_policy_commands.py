"""`flask policy` says every rule with its facts; `flask seed` plants what there is to try."""

from datetime import date
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskCliRunner
from sqlalchemy import func, select

from refund_agent import wiring_orders
from refund_agent.adapters.sql_orders import SqlOrderRefunds, SqlOrders
from refund_agent.adapters.sql_support_tables import customers, orders
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.eligibility import Eligibility
from refund_agent.policy_file import dated_files, load_rules
from refund_agent.seeds import read_seeds
from refund_agent.settings import AppEnv, Settings
from refund_agent.settings_orders import OrderSettings
from tests.integration.conftest import Stores
from web import commands_support
from web.commands_support import PolicyDesk

ROOT = Path(__file__).parents[2]
NEWEST = dated_files()[-1]
SEEDS = read_seeds(date(2026, 11, 20)).orders


def runner(stores: Stores, *, app_env: AppEnv = "development", policy_file: Path = NEWEST) -> FlaskCliRunner:
    settings = Settings(orders=OrderSettings(policy_file=policy_file))
    today = date(2026, 11, 20)

    def eligibility() -> Eligibility:
        return wiring_orders.build_orders(settings, stores.database, today=today).eligibility

    desk = PolicyDesk(
        rules=lambda: wiring_orders.rules_for(settings, today),
        eligibility=eligibility,
        seed=lambda: wiring_orders.plant_seeds(stores.database, stores.turns),
    )
    app = Flask("test")
    commands_support.install(app, desk, app_env=app_env)
    return app.test_cli_runner()


@pytest.fixture
def flask(stores: Stores) -> FlaskCliRunner:
    return runner(stores)


def explained(flask: FlaskCliRunner, *arguments: str) -> str:
    result = flask.invoke(args=["policy", "explain", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("seeded", SEEDS, ids=lambda seeded: seeded.order.id)
def test_every_seeded_order_is_explained_as_its_line_says(flask: FlaskCliRunner, seeded: object) -> None:
    flask.invoke(args=["seed"])
    order = next(one for one in SEEDS if one is seeded)
    amount = f"{order.asks_cents // 100}.{order.asks_cents % 100:02}"
    output = explained(flask, order.order.id, "--amount", amount, "--customer", order.asked_by)
    answer = {"approved": "approved", "needs_approval": "escalated: needs_approval"}.get(
        order.rule, f"denied: {order.rule}"
    )
    assert output.splitlines()[-1] == f"{answer}, policy {NEWEST.stem}"
    verdicts = ("passes", "objects", "not asked")
    assert sum(line.startswith(verdicts) for line in output.splitlines()) == 7


def test_a_rule_is_printed_with_its_facts(flask: FlaskCliRunner) -> None:
    flask.invoke(args=["seed"])
    output = explained(flask, "ORD-1003", "--amount", "89")
    assert "objects    return_window_closed" in output
    assert "days_since_delivery=31, return_window_days=30" in output
    assert "paid=89.00 EUR, refunded=0.00 EUR" in output


@pytest.mark.parametrize("amount", ["5e2", "12.345", "-1", "1,000.00", "NaN", ""])
def test_an_amount_that_is_not_exact_is_refused(flask: FlaskCliRunner, amount: str) -> None:
    result = flask.invoke(args=["policy", "explain", "ORD-1001", f"--amount={amount}"])
    assert result.exit_code == 2
    assert "an amount is written like" in result.output


def test_an_order_that_is_not_there_is_not_found(flask: FlaskCliRunner) -> None:
    assert "denied: order_not_found" in explained(flask, "ORD-0000", "--amount", "1")


def test_the_text_for_people_is_the_page_in_the_documentation(flask: FlaskCliRunner) -> None:
    output = flask.invoke(args=["policy", "text"]).output
    assert output == (ROOT / "docs/policy.md").read_text()
    told = flask.invoke(args=["policy", "text", "--for-model"]).output
    assert told.startswith(f"Refund policy {load_rules(NEWEST).version}.")
    assert told.endswith("exactly 500.00 is not.\n")


def test_a_policy_that_cannot_be_read_is_said_by_its_key(stores: Stores, tmp_path: Path) -> None:
    wrong = tmp_path / "2026-11.toml"
    wrong.write_text(NEWEST.read_text().replace("return_window_days = 30", "return_window_days = 30.0"))
    result = runner(stores, policy_file=wrong).invoke(args=["policy", "explain", "A1", "--amount", "1"])
    assert result.exit_code == 1
    assert "return_window_days must be a whole number" in result.output


def counts(stores: Stores) -> list[int]:
    with stores.database.transaction() as tx:
        asked = [select(func.count()).select_from(table) for table in (customers, orders, refunds, turns)]
        return [tx.execute(count).scalar_one() for count in asked]


def test_seeding_again_changes_nothing(stores: Stores, flask: FlaskCliRunner) -> None:
    assert "ORD-1012  outcome unknown" in flask.invoke(args=["seed"]).output
    first = counts(stores)
    assert first == [3, len(SEEDS), 1, 1]
    assert flask.invoke(args=["seed"]).exit_code == 0
    assert counts(stores) == first


def test_the_seeded_days_are_counted_from_today(stores: Stores, flask: FlaskCliRunner) -> None:
    flask.invoke(args=["seed"])
    today = SqlOrderRefunds(stores.database).standing([]).today
    order = SqlOrders(stores.database).find("cust-ada", "ORD-1002")
    assert order is not None
    assert order.delivered_on is not None
    assert (today - order.delivered_on).days == 30


def test_in_production_nothing_is_seeded(stores: Stores) -> None:
    result = runner(stores, app_env="production").invoke(args=["seed"])
    assert result.exit_code == 1
    assert counts(stores) == [0, 0, 0, 0]
