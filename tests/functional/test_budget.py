"""At most five completions a request, and no second try for a provider that fails in another way."""

from collections.abc import Callable

import pytest
import requests

from sandbox.model import Model, call, calls, calls_refund, hangs, says
from sandbox.payments import Payments
from tests.functional.plays import tool_results, watched
from tests.functional.stand import Row, Stand, problem, turn_id

Chat = Callable[..., requests.Response]
Ledger = Callable[[str], Row | None]

ASKS_FOR_NOTHING = calls(call("nothing", "{}"))

OTHER_ERRORS = {
    "http-400": (117,),
    "http-401": (116,),
    "http-404": (116,),
    "http-429": (114,),
    "http-500": (115,),
    "http-503": (115,),
    "http-400-should-retry": (118,),
    "http-500-should-retry": (118,),
    "redirect-307": (),
    "reset": (112,),
    "drop": (112,),
    "choices-missing": (127,),
    "choices-null": (127,),
    "choices-empty": (127,),
    "message-null": (130,),
    "error-object-200": (128,),
    "html-200": (120,),
    "empty-200": (120,),
    "cut-json": (120,),
    "cut-content-length": (120,),
    "not-an-object-list": (120,),
    "not-an-object-string": (120,),
    "not-an-object-null": (120,),
    "huge": (156,),
}


@pytest.mark.contract("C56", "C60", "C61", "C75")
@pytest.mark.fault(160, 162)
def test_still_asking_for_tools_in_the_fifth_completion_is_502(
    chat: Chat, model: Model, payments: Payments, ledger: Ledger
) -> None:
    answer = chat("[five-rounds] refund 5.00 for order A1")

    assert problem(answer, 502)["refund"]["state"] == "paid"
    assert model.request_count == 5
    assert (payments.request_count, payments.moved) == (1, [("A1", 500)])


@pytest.mark.contract("C60", "C61", "C76")
@pytest.mark.fault(160)
def test_the_fifth_completions_calls_are_not_executed(
    chat: Chat, model: Model, payments: Payments, ledger: Ledger
) -> None:
    model.will(*[ASKS_FOR_NOTHING] * 4, calls_refund("A1", 500), says("Never asked for."))

    answer = chat("refund 5.00 for order A1")

    assert problem(answer, 502)["refund"] is None
    assert model.request_count == 5
    assert payments.request_count == 0
    assert ledger(turn_id(answer)) is None


@pytest.mark.contract("C56")
def test_a_fifth_completion_with_text_is_a_reply(chat: Chat, model: Model, payments: Payments) -> None:
    model.will(*[calls_refund("A1", 500)] * 4, says("At last."))

    answer = chat("refund 5.00 for order A1")

    assert answer.json() == {"reply": "At last."}
    assert model.request_count == 5
    assert payments.moved == [("A1", 500)]


@pytest.mark.contract("C57", "C58", "C59")
def test_the_budget_counts_across_attempts_and_before_each_completion(quick_stand: Stand) -> None:
    used: list[int] = []

    def count() -> None:
        (turn,) = quick_stand.turns()
        used.append(turn["completions_used"])

    quick_stand.model.will(*[watched(count, play) for play in (hangs(), *[ASKS_FOR_NOTHING] * 4)])

    answer = quick_stand.chat("hello")

    assert problem(answer, 502)["refund"] is None
    assert used == [1, 2, 3, 4, 5], "what was committed when each completion arrived at the provider"
    assert quick_stand.model.request_count == 5


@pytest.mark.contract("C19", "C21", "C69", "C70", "C76")
@pytest.mark.parametrize(
    "script", [pytest.param(name, marks=pytest.mark.fault(*rows)) for name, rows in OTHER_ERRORS.items()]
)
def test_any_other_provider_error_is_502_and_is_not_retried(
    chat: Chat, model: Model, payments: Payments, ledger: Ledger, script: str
) -> None:
    model.will(script, says("Never asked for."))

    answer = chat("hello")

    assert problem(answer, 502)["refund"] is None
    assert model.request_count == 1
    assert ledger(turn_id(answer)) is None


@pytest.mark.contract("C75")
@pytest.mark.parametrize(
    ("mode", "state"),
    [("ok", "paid"), ("reject", "rejected"), ("accept-then-drop", "unknown")],
)
def test_a_502_after_a_refund_says_what_became_of_it(stand: Stand, mode: str, state: str) -> None:
    stand.payments.will(mode)
    stand.model.will(calls_refund("A1", 500), "http-500")

    answer = stand.chat("refund 5.00 for order A1")

    refund = problem(answer, 502)["refund"]
    assert (refund["state"], refund["order_id"], refund["amount_cents"]) == (state, "A1", 500)
    row = stand.gate(turn_id(answer))
    assert row is not None
    assert row["state"] == state
    assert stand.payments.request_count == 1


@pytest.mark.fault(139)
def test_tool_calls_announced_but_empty_are_a_final_text(chat: Chat, model: Model) -> None:
    answer = chat("[finish-tool-calls-empty] hello")

    assert answer.json() == {"reply": "All is well."}
    assert model.request_count == 1


@pytest.mark.fault(155, 156)
@pytest.mark.parametrize("script", ["nul-in-content", "surrogate-in-content", "big-content"])
def test_a_text_that_no_store_takes_is_still_a_reply(chat: Chat, script: str) -> None:
    answer = chat(f"[{script}] hello")

    assert answer.status_code == 200
    assert answer.json()["reply"].startswith("All")


@pytest.mark.fault(155)
@pytest.mark.parametrize("script", ["nul-with-call", "surrogate-with-call"])
def test_such_a_text_beside_a_call_does_not_stop_the_turn(
    chat: Chat, model: Model, payments: Payments, script: str
) -> None:
    answer = chat(f"[{script}] refund 5.00 for order A1")

    assert answer.status_code == 200
    assert payments.moved == [("A1", 500)]
    assert len(tool_results(model.requests[1])) == 1
