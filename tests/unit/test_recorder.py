"""A recorded turn: everything that passed a port is told, in order, and nothing of the turn changes."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import cast

import pytest
from marshmallow import Schema

from refund_agent import prompts
from refund_agent.loop import Loop
from refund_agent.outcomes import CallPosition, RefusedByPolicy, Replied, Superseded, TurnOutcome
from refund_agent.policy import Approved, Decision, Denied, LockedFacts, decide
from refund_agent.ports import CompletionAnswer
from refund_agent.recorder import Recorder
from refund_agent.refunds import Refunds
from refund_agent.tools import Tool, Toolbox
from refund_agent.turn import ToolCall
from tests.fake_events import FakeJournal
from tests.fakes import FakeModel, FakeQueue, calls, calls_refund, fails, says, times_out
from tests.policy_cases import CASE, RULES
from tests.unit.desk import Desk

WHOLE_TURN = [
    "begun",
    *["thinking", "step"],
    *["tool_call", "claim", "settle", "tool_result"],
    *["thinking", "step"],
    "usage",
]


class RecordedDesk(Desk):
    """A desk whose turns are recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.journal = FakeJournal()
        self.recorder = Recorder(self.journal)
        self.recorded_ledger = self.recorder.ledger(self.ledger)

    def record(self, *script: CompletionAnswer) -> TurnOutcome | Superseded:
        refunds = Refunds(
            ledger=self.recorded_ledger,
            payments=self.payments,
            audit=self.audit,
            hints=self.hints,
            clock=self.clock,
            payments_timeout_seconds=10.0,
        )
        loop = Loop(
            instructions=prompts.REFUND_CHAT,
            model=self.recorder.model(FakeModel(*script)),
            toolbox=self.recorder.toolbox(Toolbox([refunds.tool()])),
            turns=self.turns,
            hints=self.hints,
            clock=self.clock,
            completion_timeout_seconds=20.0,
            backoff_seconds=2.0,
        )
        self.turn = self.begin()
        return self.recorder.agent(loop).run(self.turn)


@pytest.fixture
def recorded() -> RecordedDesk:
    return RecordedDesk()


def test_a_turn_with_a_refund_is_told_from_its_beginning_to_its_usage(recorded: RecordedDesk) -> None:
    outcome = recorded.record(calls_refund("A1", 500), says("Done."))

    assert outcome == Replied("Done.")
    assert recorded.payments.moved == [("A1", 500)]
    assert recorded.journal.kinds == WHOLE_TURN
    assert {turn_id for turn_id, _, _ in recorded.journal.noted} == {"turn-1"}


def test_the_claim_and_the_settled_row_are_told_as_the_ledger_has_them(recorded: RecordedDesk) -> None:
    recorded.payments.accepts_then_drops_the_answer()
    recorded.record(calls_refund("A1", 500), says("We will see."))

    (claim,) = recorded.journal.bodies("claim")
    assert claim == {"call": "1.0", "order_id": "A1", "amount_cents": 500, "answer": "claimed"}
    (settle,) = recorded.journal.bodies("settle")
    assert (settle["state"], settle["order_id"], settle["amount_cents"]) == ("unknown", "A1", 500)


def test_a_refused_second_call_is_told_and_claims_nothing(recorded: RecordedDesk) -> None:
    recorded.record(calls_refund("A1", 500), calls_refund("B2", 700), says("Done."))

    assert recorded.payments.requests == [("A1", 500)]
    assert [body["ok"] for body in recorded.journal.bodies("tool_result")] == [True, False]
    assert len(recorded.journal.bodies("claim")) == 1


def test_arguments_are_told_as_the_model_wrote_them(recorded: RecordedDesk) -> None:
    recorded.record(calls(ToolCall("c-1", "no_such_tool", "{not json")), says("Sorry."))

    (call,) = recorded.journal.bodies("tool_call")
    assert call == {"call": "1.0", "tool": "no_such_tool", "arguments": "{not json"}


@pytest.mark.parametrize(
    ("answer", "problem"), [(times_out(), "timed out"), (fails("HTTP 500"), "failed")], ids=["late", "failed"]
)
def test_a_completion_without_an_answer_is_a_step_with_a_problem(
    recorded: RecordedDesk, answer: CompletionAnswer, problem: str
) -> None:
    recorded.record(answer, says("Second attempt."))
    assert recorded.journal.bodies("step")[0]["problem"] == problem


def test_usage_tells_what_the_turn_has_cost(recorded: RecordedDesk) -> None:
    recorded.record(times_out(), says("Hello."))

    (usage,) = recorded.journal.bodies("usage")
    assert (usage["completions"], usage["attempts"], usage["outcome"]) == (2, 2, "Replied")


def test_an_owner_that_lost_its_turn_tells_no_usage(recorded: RecordedDesk) -> None:
    recorded.store()

    class Lost:
        def run(self, turn: object) -> Superseded:
            return Superseded()

    recorded.recorder.agent(Lost()).run(recorded.begin())
    assert recorded.journal.kinds == ["begun"]


def refuses(_: LockedFacts) -> Decision:
    return Denied("final_sale", "2026-11", {"order_id": "A1"})


def approves(_: LockedFacts) -> Decision:
    return Approved(500, "2026-11")


@pytest.mark.parametrize(
    ("check", "decision", "answer"),
    [(refuses, "denied", "refused_by_policy"), (approves, "approved", "claimed")],
    ids=["denied", "approved"],
)
def test_the_policys_word_under_the_lock_is_told_after_the_claim(
    recorded: RecordedDesk, check: Callable[[LockedFacts], Decision], decision: str, answer: str
) -> None:
    told_inside: list[int] = []

    def watched(facts: LockedFacts) -> Decision:
        told_inside.append(len(recorded.journal.noted))
        return check(facts)

    claim = recorded.recorded_ledger.claim(
        recorded.begin(), call=CallPosition(1, 0), order_id="A1", amount_cents=500, check=watched
    )

    assert isinstance(claim, RefusedByPolicy) == (decision == "denied")
    assert told_inside == [0], "the journal must not wait for the claim's own transaction"
    assert recorded.journal.kinds == ["policy", "decision", "claim"]
    assert [recorded.journal.bodies(kind)[0].get("decision") for kind in ("policy", "decision")] == [
        decision,
        decision,
    ]
    assert recorded.journal.bodies("claim")[0]["answer"] == answer


def test_the_policys_word_is_told_with_every_rule_that_was_asked(recorded: RecordedDesk) -> None:
    late = replace(CASE, today=CASE.today + timedelta(days=40))

    recorded.recorded_ledger.claim(
        recorded.begin(),
        call=CallPosition(1, 0),
        order_id="A1",
        amount_cents=500,
        check=lambda _: decide(late, RULES),
    )

    (policy,) = recorded.journal.bodies("policy")
    rules = cast("list[dict[str, object]]", policy["rules"])
    assert [(rule["rule"], rule["verdict"]) for rule in rules] == [
        ("order_not_found", "passes"),
        ("not_delivered", "passes"),
        ("final_sale", "passes"),
        ("return_window_closed", "objects"),
    ]
    assert "rules" not in recorded.journal.bodies("decision")[0], "said once, not twice"


def test_what_is_queued_is_told_before_a_worker_can_take_it(recorded: RecordedDesk) -> None:
    queue = FakeQueue()
    told: list[list[str]] = []
    queue.before = lambda: told.append(list(recorded.journal.kinds))

    recorded.recorder.queue(queue).put("turn-1")

    assert told == [["queued"]]
    assert queue.queued == ["turn-1"]


def test_a_hand_over_to_a_person_is_an_event_of_its_turn(recorded: RecordedDesk) -> None:
    hands_over = Tool("escalate_to_human", "", Schema(), lambda *_: {"handed_over": True})
    toolbox = recorded.recorder.toolbox(Toolbox([hands_over]))

    toolbox.answer(recorded.begin(), CallPosition(1, 0), ToolCall("c1", "escalate_to_human", "{}"))

    assert recorded.journal.kinds == ["tool_call", "tool_result", "hand_off"]
    assert recorded.journal.bodies("hand_off") == [
        {"call": "1.0", "tool": "escalate_to_human", "to": "person"}
    ]


def test_what_a_tool_merely_asked_the_policy_is_told_with_every_rule_too(recorded: RecordedDesk) -> None:
    late = decide(replace(CASE, today=CASE.today + timedelta(days=40)), RULES)

    recorded.recorder.judged(recorded.begin(), CallPosition(1, 0), late)

    (policy,) = recorded.journal.bodies("policy")
    assert (policy["call"], policy["decision"], policy["rule"]) == ("1.0", "denied", "return_window_closed")
    assert "days ago" in str(policy["because"])
    assert len(cast("list[object]", policy["findings"])) == 4


def test_a_step_tells_what_it_cost(recorded: RecordedDesk) -> None:
    answer = replace(says("Hello."), tokens=210, read_tokens=200, model="m", cost_microdollars=36)

    recorded.record(answer)

    (step,) = recorded.journal.bodies("step")
    told = {name: step[name] for name in ("tokens", "read_tokens", "model", "cost_microdollars")}
    assert told == {"tokens": 210, "read_tokens": 200, "model": "m", "cost_microdollars": 36}
    assert recorded.turn.cost_microdollars == 36


def test_one_completion_of_unknown_cost_makes_the_turns_cost_unknown(recorded: RecordedDesk) -> None:
    recorded.record(replace(calls_refund("A1", 500), cost_microdollars=36), says("Done."))
    assert recorded.turn.cost_microdollars is None
