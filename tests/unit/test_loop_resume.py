"""A worker dies at any step of a turn; the next owner goes on from what was kept, and never sends twice.

One turn is run with a worker that dies at its first step, then one that dies at its second, and so on
until the turn outlives its worker. A step is the moment before or after any call to the outside.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from refund_agent.outcomes import Replied
from refund_agent.ports import CompletionAnswer, CompletionTimedOut
from refund_agent.turn import AssistantMessage, ToolCall, ToolResult
from tests.fake_tables import FakeDatabase
from tests.fakes import calls, calls_refund, refund_call, says, times_out
from tests.unit.desk import Desk

contract = pytest.mark.contract

STEPS_AT_MOST = 60


class WorkerDied(BaseException):
    """As a kill: nothing of the core may catch it."""


class Steps:
    """Counts the steps of a worker and kills it at one of them; `names` are the steps it took."""

    def __init__(self, deadly: int) -> None:
        self._deadly = deadly
        self.names: list[str] = []

    def take(self, name: str) -> None:
        self.names.append(name)
        if len(self.names) == self._deadly:
            raise WorkerDied(name)


class MortalDatabase(FakeDatabase):
    """Every transaction is two steps: one before it commits, one after."""

    steps = Steps(0)

    @contextmanager
    def transaction(self, name: str) -> Iterator[None]:
        self.steps.take(f"before {name}")
        with super().transaction(name):
            yield
        self.steps.take(f"after {name}")


def runs(*, deadly: int, script: Callable[[Desk], CompletionAnswer]) -> tuple[Desk, str]:
    """Run a turn whose first worker dies at step `deadly`; return its desk and the name of that step."""
    database = MortalDatabase()
    desk = Desk(database)
    desk.store()
    steps = database.steps = Steps(deadly)

    def answers() -> CompletionAnswer:
        steps.take("before completion")
        answer = script(desk)
        steps.take("after completion")
        return answer

    desk.payments.before = lambda: steps.take("request arrived")
    died_at = ""
    try:
        ending = desk.deliver(*[answers] * 5)
    except WorkerDied as death:
        died_at = str(death)
        database.steps = steps = Steps(0)
        if database.turns["turn-1"].state == "running":
            database.owner_dies("turn-1")
        ending = desk.deliver(*[answers] * 5, owner="worker-2")
    if died_at != "after end":
        assert ending == Replied("done"), died_at
    assert desk.database.turns["turn-1"].outcome == Replied("done")
    return desk, died_at


def last_message_is_a_result(desk: Desk) -> bool:
    return isinstance(desk.model.asked[-1].messages[-1], ToolResult)


def refunds_once(desk: Desk) -> CompletionAnswer:
    """A model that asks for a refund, and replies once it has an answer."""
    return says("done") if last_message_is_a_result(desk) else calls_refund("A1", 500)


def insists(desk: Desk) -> CompletionAnswer:
    """A model that asks again for what it was refused, in one message with a wrong call."""
    asked = sum(isinstance(message, AssistantMessage) for message in desk.model.asked[-1].messages)
    wrong = ToolCall("wrong", "issue_refund", "{}")
    return says("done") if asked == 2 else calls(wrong, refund_call("A1", 500), refund_call("B2", 1))


def times_out_once(desk: Desk) -> CompletionAnswer | CompletionTimedOut:
    """A model whose second completion times out."""
    return times_out() if desk.database.turns["turn-1"].completions_used == 2 else refunds_once(desk)


@pytest.mark.parametrize("script", [refunds_once, insists, times_out_once])
@contract("C2", "C31", "C45", "C46", "C58", "C59", "C30")
@pytest.mark.fault(157)
def test_a_turn_survives_a_death_at_any_step_and_moves_money_at_most_once(
    script: Callable[[Desk], CompletionAnswer],
) -> None:
    seen: list[str] = []
    for deadly in range(1, STEPS_AT_MOST):
        desk, died_at = runs(deadly=deadly, script=script)
        seen.append(died_at)
        row = desk.database.turns["turn-1"]

        assert len(desk.payments.requests) <= 1, died_at
        assert desk.payments.moved == desk.payments.requests or "request arrived" in died_at, died_at
        assert (row.completions_used <= 5, row.attempts <= 2) == (True, True), died_at
        assert every_call_was_answered_once(desk), died_at
        if not died_at:
            break
    assert seen[-1] == "", "the script must end before the steps do"
    assert {"after claim", "request arrived", "before settle", "after settle", "after end"} <= set(seen)


def every_call_was_answered_once(desk: Desk) -> bool:
    """Whether the last owner's completions saw only transcripts in which every call has its own answer."""
    for asked in desk.model.asked:
        open_calls: list[str] = []
        for message in asked.messages:
            if isinstance(message, AssistantMessage):
                if open_calls:
                    return False
                open_calls = [call.id for call in message.tool_calls]
            elif isinstance(message, ToolResult) and open_calls.pop(0) != message.call_id:
                return False
        if open_calls:
            return False
    return True


def dies(step: str, *, script: Callable[[Desk], CompletionAnswer] = refunds_once) -> Desk:
    """Return the desk of a turn whose worker died at the first step of this name."""
    for deadly in count(1):
        desk, died_at = runs(deadly=deadly, script=script)
        if died_at == step:
            return desk
        assert died_at, f"no step is called {step!r}"
    raise AssertionError


@contract("C45", "C46")
def test_a_worker_that_died_before_its_claim_leaves_the_refund_to_the_next() -> None:
    desk = dies("before claim")

    assert desk.payments.moved == [("A1", 500)]
    assert desk.database.refunds["turn-1"].state == "paid"


@pytest.mark.parametrize("step", ["after claim", "request arrived", "before settle"])
@contract("C45", "C46", "C82")
def test_a_worker_that_died_between_claim_and_settle_leaves_an_unknown_refund(step: str) -> None:
    desk = dies(step)

    assert len(desk.payments.requests) == (0 if step == "after claim" else 1)
    assert desk.database.refunds["turn-1"].state == "unknown"
    assert "outcome unknown" in json.loads(last_result(desk))["error"]


@contract("C46", "C50")
def test_a_worker_that_died_after_its_settle_leaves_a_receipt_that_is_told_and_not_sent_again() -> None:
    desk = dies("after settle")

    assert desk.payments.requests == [("A1", 500)]
    assert json.loads(last_result(desk))["refund_id"] == "re-1"


@contract("C59")
def test_a_completion_that_died_with_its_worker_stays_counted() -> None:
    desk = dies("after completion")

    assert desk.model.asked[0].request_id == "turn-1-2"
    assert desk.database.turns["turn-1"].completions_used == 3


def last_result(desk: Desk) -> str:
    message = desk.model.asked[-1].messages[-1]
    assert isinstance(message, ToolResult)
    return message.content
