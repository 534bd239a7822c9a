from pathlib import Path

import pytest

from sandbox.outside import outside
from sandbox.payment_modes import MODES
from sandbox.play import Result, differences, story
from sandbox.scenarios import SCENARIOS, Scenario
from sandbox.screen import table, welcome
from sandbox.scripts import find_script

LOST = SCENARIOS["accept-then-drop"]
ROOT = Path(__file__).parents[3]


def result(scenario: Scenario, **changes: object) -> Result:
    refund = None if scenario.ledger in {None, "closed"} else {"state": scenario.ledger}
    as_expected = {
        "status": scenario.status,
        "body": {"reply": "…"} if scenario.status == 200 else {"refund": refund},
        "turn_id": "t-1",
        "seconds": 0.1,
        "posts": scenario.posts,
        "moved": [("ORD-1", cents) for cents in scenario.moved_cents],
        "ledger": scenario.ledger,
    }
    return Result(**(as_expected | changes))  # type: ignore[arg-type] # one maker for all fields


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_a_scenario_names_a_mode_and_a_script_that_exist(scenario: Scenario) -> None:
    assert scenario.payments in MODES
    script = scenario.message.partition("]")[0].removeprefix("[")
    assert not scenario.message.startswith("[") or find_script(script) is not None


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_what_a_scenario_expects_can_come_true(scenario: Scenario) -> None:
    assert differences(scenario, result(scenario)) == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"status": 500}, "HTTP status: expected 200, got 500"),
        ({"posts": 2}, "refund requests sent: expected 1, got 2"),
        ({"moved": [("A", 4999), ("A", 4999)]}, "cents moved: expected (4999,), got (4999, 4999)"),
        ({"ledger": "paid"}, "ledger: expected unknown, got paid"),
        ({"body": {"refund": {"state": "paid"}}}, "refund in the problem: expected None, got paid"),
    ],
)
def test_whatever_is_not_as_expected_is_told(changes: dict[str, object], told: str) -> None:
    wrong = result(LOST, **changes)

    assert differences(LOST, wrong) == [told]
    assert "NOT as expected:" in list(story(LOST, wrong, url="http://127.0.0.1:1"))


def test_stand_ins_serve_where_nothing_is_set() -> None:
    with outside({"OPENAI_API_KEY": " ", "PAYMENTS_URL": ""}) as around:
        assert around.payments is not None
        assert around.env["PAYMENTS_URL"].startswith("http://127.0.0.1:")
        assert around.env["OPENAI_BASE_URL"].startswith("http://127.0.0.1:")
        assert list(around.warnings()) == []


def test_real_payments_are_never_said_to_be_a_stand_in() -> None:
    with outside(
        {"PAYMENTS_URL": "https://user:secret@payments.example.com/v1", "PAYMENTS_TOKEN": "t"}
    ) as around:
        lines = list(welcome("http://127.0.0.1:1", around, logs=ROOT / ".state" / "demo-x", verbose=False))

    text = "\n".join(lines)
    assert around.env["PAYMENTS_TOKEN"] == "t"
    assert "REAL PAYMENTS" in text
    assert "https://payments.example.com/v1 and MOVE MONEY" in text
    assert "secret" not in text
    assert "make it misbehave" not in text
    assert "Say this" not in text
    assert "except the ledger in .state/refunds.db" in text


def test_a_real_model_is_named_and_gets_the_callers_key() -> None:
    with outside({"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "https://llm.example.com/v1"}) as around:
        assert around.env["OPENAI_API_KEY"] == "sk-1"
        assert around.env["OPENAI_BASE_URL"] == "https://llm.example.com/v1"
        assert "LLM_PROVIDER" not in around.env
        assert [line.partition(":")[0] for line in around.warnings()] == ["REAL MODEL"]


def test_a_table_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")

    lines = list(table(("Say this", "Expect that"), [("word " * 20, "more " * 30)]))

    assert max(map(len, lines)) <= 60
    assert sum(line.count("word") for line in lines) == 20
    assert sum(line.count("more") for line in lines) == 30
