"""What holds of the policy whatever the case and whatever the numbers in the file."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import assume, given
from hypothesis import strategies as st

from refund_agent.notices import APPROVED_NOT_SENT, entry_in
from refund_agent.policy import Approved, Case, Denied, Escalated, Rules, decide, explain
from refund_agent.policy_text import finding_line, say
from tests.policy_cases import cases, contract_allows, good_cases, some_rules


@given(cases(), some_rules)
def test_the_decision_is_the_first_objection(asked: Case, rules: Rules) -> None:
    objecting = [found for found in explain(asked, rules) if found.verdict == "objects"]
    decision = decide(asked, rules)
    if not objecting:
        assert decision == Approved(asked.amount_cents, rules.version)
    else:
        assert isinstance(decision, Denied | Escalated)
        assert (decision.rule, decision.facts) == (objecting[0].rule, objecting[0].facts)


@given(cases(), some_rules)
def test_what_is_approved_is_what_the_contract_allows(asked: Case, rules: Rules) -> None:
    assert isinstance(decide(asked, rules), Approved) == contract_allows(asked, rules)


@given(cases(), some_rules)
def test_an_escalation_is_over_the_limit_and_otherwise_allowed(asked: Case, rules: Rules) -> None:
    if isinstance(decide(asked, rules), Escalated):
        assert asked.amount_cents > rules.escalate_above_cents
        assert contract_allows(asked, replace(rules, escalate_above_cents=asked.amount_cents))


@given(cases(), some_rules)
def test_never_a_cent_above_what_is_left(asked: Case, rules: Rules) -> None:
    decision = decide(replace(asked, approved_by_person=True), rules)
    if isinstance(decision, Approved):
        assert asked.order is not None
        assert decision.amount_cents == asked.amount_cents
        assert asked.refunded_cents + decision.amount_cents <= asked.order.paid_cents


@given(good_cases(), some_rules, st.data())
def test_what_is_approved_is_approved_for_less_and_for_earlier(
    asked: Case, rules: Rules, data: st.DataObject
) -> None:
    assume(isinstance(decide(asked, rules), Approved))
    assert asked.order is not None
    assert asked.order.delivered_on is not None
    less = data.draw(st.integers(1, asked.amount_cents))
    earlier = data.draw(st.integers(0, (asked.today - asked.order.delivered_on).days))
    easier = replace(asked, amount_cents=less, today=asked.today - timedelta(days=earlier))
    assert decide(easier, rules) == Approved(less, rules.version)


@given(cases(), some_rules)
def test_every_decision_and_every_finding_can_be_said(asked: Case, rules: Rules) -> None:
    assert say(decide(asked, rules))
    assert all(found.rule in finding_line(found, rules) for found in explain(asked, rules))


@given(cases(), some_rules)
def test_every_refusal_can_be_said_in_another_language(asked: Case, rules: Rules) -> None:
    decision = decide(asked, rules)
    if not isinstance(decision, Approved):
        told = APPROVED_NOT_SENT.say(reason=say(decision))
        assert say(decision) not in entry_in("es", told)
