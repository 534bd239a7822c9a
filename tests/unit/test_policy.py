"""The refund policy, rule by rule and border by border."""

from dataclasses import replace

import pytest

from refund_agent.orders import OrderStatus, RefundsSoFar
from refund_agent.policy import Approved, Case, Denied, Escalated, RuleName, decide, explain
from tests.policy_cases import CASE, ORDER, RULES, SPLIT, case, delivered_days_ago


def objection(asked: Case, rules: object = RULES) -> RuleName | None:
    decision = decide(asked, SPLIT if rules is SPLIT else RULES)
    return None if isinstance(decision, Approved) else decision.rule


def test_a_plain_order_is_approved_for_the_exact_amount() -> None:
    assert decide(CASE, RULES) == Approved(4_999, "2026-11")


@pytest.mark.fault(267)
def test_somebody_elses_order_answers_exactly_like_a_missing_one() -> None:
    foreign = decide(replace(CASE, customer_id="c-2"), RULES)
    missing = decide(replace(CASE, customer_id="c-2", order=None), RULES)
    assert foreign == missing == Denied("order_not_found", "2026-11", {})


def test_nothing_is_asked_about_an_order_that_is_not_the_customers() -> None:
    found = explain(replace(CASE, customer_id="c-2"), RULES)
    assert [one.verdict for one in found] == ["objects", *["not asked"] * 6]
    assert all(one.facts == {} for one in found)


@pytest.mark.parametrize("status", ["pending", "processed", "shipped", "cancelled"])
def test_only_a_delivered_order_is_refunded(status: OrderStatus) -> None:
    assert objection(case(status=status)) == "not_delivered"
    assert objection(case(status=status, delivered_on=None)) == "not_delivered"


def test_a_delivery_of_tomorrow_or_of_no_day_is_not_one() -> None:
    assert objection(case(delivered_on=delivered_days_ago(-1))) == "not_delivered"
    assert objection(case(delivered_on=None)) == "not_delivered"


def test_final_sale_is_never_refunded() -> None:
    assert objection(case(final_sale=True)) == "final_sale"


@pytest.mark.parametrize(("days", "rule"), [(0, None), (29, None), (30, None), (31, "return_window_closed")])
def test_day_30_is_inside_the_window_and_day_31_is_not(days: int, rule: RuleName | None) -> None:
    assert objection(case(delivered_on=delivered_days_ago(days))) == rule


@pytest.mark.parametrize("refunds", [RefundsSoFar(paid_cents=1), RefundsSoFar(unconfirmed_cents=1)])
def test_a_second_refund_of_an_order_is_denied(refunds: RefundsSoFar) -> None:
    assert objection(case(refunds=refunds)) == "already_refunded"


def test_a_refund_made_elsewhere_counts_as_one() -> None:
    assert objection(case(refunded_before_cents=1)) == "already_refunded"


def test_where_an_order_may_be_refunded_in_parts_the_parts_never_exceed_what_was_paid() -> None:
    half = RefundsSoFar(paid_cents=40_000)
    assert objection(case(amount_cents=40_000, refunds=half), SPLIT) is None
    assert objection(case(amount_cents=40_001, refunds=half), SPLIT) == "already_refunded"


@pytest.mark.fault(251)
def test_an_unconfirmed_refund_blocks_its_order_even_where_something_is_left() -> None:
    assert objection(case(refunds=RefundsSoFar(unconfirmed_cents=1)), SPLIT) == "already_refunded"


@pytest.mark.parametrize("amount_cents", [-1, 0, 80_001])
@pytest.mark.fault(268)
def test_the_amount_is_more_than_nothing_and_not_more_than_is_left(amount_cents: int) -> None:
    assert objection(case(amount_cents=amount_cents)) == "amount_not_refundable"


def test_exactly_the_limit_is_approved_and_a_cent_more_goes_to_a_person() -> None:
    assert decide(case(amount_cents=50_000), RULES) == Approved(50_000, "2026-11")
    above = decide(case(amount_cents=50_001), RULES)
    assert isinstance(above, Escalated)
    assert (above.rule, above.amount_cents, above.version) == ("needs_approval", 50_001, "2026-11")


def test_a_person_may_wave_the_limit_through_and_no_other_rule() -> None:
    approved = replace(case(amount_cents=50_001), approved_by_person=True)
    assert decide(approved, RULES) == Approved(50_001, "2026-11")
    too_much = replace(approved, amount_cents=80_001)
    assert objection(too_much) == "amount_not_refundable"
    assert objection(replace(approved, refunds=RefundsSoFar(paid_cents=1))) == "already_refunded"
    assert objection(replace(approved, order=replace(ORDER, final_sale=True))) == "final_sale"


def test_what_is_wrong_is_denied_before_anything_goes_to_a_person() -> None:
    assert objection(case(amount_cents=60_000, final_sale=True)) == "final_sale"


def test_the_first_objection_is_the_one_that_is_named() -> None:
    everything_wrong = case(
        amount_cents=0,
        status="shipped",
        final_sale=True,
        delivered_on=delivered_days_ago(99),
        refunds=RefundsSoFar(paid_cents=80_000),
    )
    assert objection(everything_wrong) == "not_delivered"
    assert [found.rule for found in explain(everything_wrong, RULES) if found.verdict == "objects"] == [
        "not_delivered",
        "final_sale",
        "return_window_closed",
        "already_refunded",
        "amount_not_refundable",
    ]


def test_a_finding_has_the_facts_it_was_made_on() -> None:
    window = explain(case(delivered_on=delivered_days_ago(31)), RULES)[3]
    assert window.facts == {
        "delivered_on": delivered_days_ago(31),
        "days_since_delivery": 31,
        "return_window_days": 30,
    }
