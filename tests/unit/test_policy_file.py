"""The policy file is read strictly, and what is written for people is rendered from it."""

from datetime import date
from pathlib import Path

import pytest

from refund_agent.policy import decide
from refund_agent.policy_file import PolicyUnreadable, dated_files, load_rules, rules_in_force
from refund_agent.policy_text import for_model, for_people, rule_texts, say
from tests.policy_cases import CASE, RULES, case, delivered_days_ago

GOOD = """\
refundable_statuses = ["delivered"]
refund_final_sale = false
return_window_days = 30
one_refund_per_order = true
escalate_above_cents = 50000
approval_expiry_days = 7
"""
ROOT = Path(__file__).parents[2]


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return tmp_path / "2026-11.toml"


def test_the_shipped_policy_is_the_contracts() -> None:
    assert rules_in_force(date(2026, 11, 1)) == RULES


def test_the_version_is_the_files_name(policy: Path) -> None:
    policy.write_text(GOOD)
    assert load_rules(policy) == RULES


@pytest.mark.parametrize(
    ("line", "instead", "complaint"),
    [
        ("return_window_days = 30", "return_window_days = 30.0", "return_window_days must be a whole number"),
        ("return_window_days = 30", 'return_window_days = "30"', "return_window_days must be a whole number"),
        ("return_window_days = 30", "return_window_days = true", "return_window_days must be a whole number"),
        ("return_window_days = 30", "return_window_days = -1", "return_window_days must be from 0"),
        ("return_window_days = 30", "", "return_window_days is missing"),
        ("return_window_days = 30", "return_window_dayz = 30", "return_window_days is missing"),
        ("approval_expiry_days = 7", "approval_expiry_days = 0", "approval_expiry_days must be from 1"),
        (
            "escalate_above_cents = 50000",
            "escalate_above_cents = 5e4",
            "escalate_above_cents must be a whole",
        ),
        ("escalate_above_cents = 50000", f"escalate_above_cents = {2**53}", "escalate_above_cents must be"),
        ("one_refund_per_order = true", "one_refund_per_order = 1", "one_refund_per_order must be true or"),
        ("refund_final_sale = false", 'refund_final_sale = "no"', "refund_final_sale must be true or false"),
        ('["delivered"]', '["deliverd"]', "refundable_statuses has 'deliverd'"),
        ('["delivered"]', "[]", "refundable_statuses must not be empty"),
        ('["delivered"]', '"delivered"', "refundable_statuses must be a list"),
        ("approval_expiry_days = 7", "approval_expiry_days = 7\nlimit = 3", "limit is not a key of a policy"),
        ("approval_expiry_days = 7", "approval_expiry_days = 7\n[more]", "more is not a key of a policy"),
        ("approval_expiry_days = 7", "approval_expiry_days = ", "2026-11.toml: "),
        ("return_window_days = 30", "return_window_days = 30\nreturn_window_days = 60", "2026-11.toml: "),
    ],
)
def test_a_file_that_is_not_wholly_understood_is_refused(
    policy: Path, line: str, instead: str, complaint: str
) -> None:
    assert line in GOOD
    policy.write_text(GOOD.replace(line, instead))
    with pytest.raises(PolicyUnreadable) as refused:
        load_rules(policy)
    assert complaint in str(refused.value)
    assert str(refused.value).startswith("2026-11.toml: ")


def test_a_file_that_is_not_text_or_not_there_is_refused(policy: Path) -> None:
    with pytest.raises(PolicyUnreadable, match="cannot be read"):
        load_rules(policy)
    policy.write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyUnreadable):
        load_rules(policy)


def test_the_newest_policy_that_is_not_of_a_month_to_come_is_in_force(tmp_path: Path) -> None:
    for month, days in [("2026-09", 10), ("2026-11", 30), ("2027-01", 60)]:
        (tmp_path / f"{month}.toml").write_text(GOOD.replace("days = 30", f"days = {days}"))
    assert rules_in_force(date(2026, 10, 31), folder=tmp_path).version == "2026-09"
    assert rules_in_force(date(2026, 11, 1), folder=tmp_path).return_window_days == 30
    assert rules_in_force(date(2026, 12, 31), folder=tmp_path).version == "2026-11"
    assert rules_in_force(date(2027, 1, 1), folder=tmp_path).version == "2027-01"
    with pytest.raises(PolicyUnreadable, match="no policy is in force"):
        rules_in_force(date(2026, 8, 31), folder=tmp_path)


def test_a_file_without_a_month_for_its_name_is_refused_rather_than_overlooked(tmp_path: Path) -> None:
    (tmp_path / "2026-13.toml").write_text(GOOD)
    with pytest.raises(PolicyUnreadable, match="named for its month"):
        dated_files(tmp_path)


def test_the_page_for_people_is_the_rendering_of_the_newest_file() -> None:
    assert (ROOT / "docs/policy.md").read_text() == for_people(load_rules(dated_files()[-1]))


def test_people_and_model_are_told_the_same_rules_word_for_word(policy: Path) -> None:
    other = GOOD.replace("30", "14").replace("50000", "12345").replace("= true", "= false")
    policy.write_text(other)
    rules = load_rules(policy)
    page, told = for_people(rules), for_model(rules)
    for text in rule_texts(rules).values():
        assert text in page
        assert text in told
    assert "day 14 is inside, day 15 is not" in told
    assert "123.45" in told
    assert "once at most" not in told


def test_a_denial_is_said_with_its_facts_and_a_foreign_order_with_none() -> None:
    assert "31 days ago" in say(decide(case(delivered_on=delivered_days_ago(31)), RULES))
    foreign = decide(case(customer_id="c-2"), RULES)
    assert say(foreign) == "Order not found."
    assert say(decide(CASE, RULES)) == "Within the policy: 49.99 may be refunded."
