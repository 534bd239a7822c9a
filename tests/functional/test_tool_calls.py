"""Validated before it runs, answered by its own id, told to the model and never to the caller."""

from collections.abc import Callable
from typing import Any

import pytest
import requests

from sandbox.model import Model, call, calls, calls_refund, refund_call, says
from sandbox.payments import Payments
from tests.functional.plays import calls_of, tool_results
from tests.functional.stand import Row, turn_id

Chat = Callable[..., requests.Response]
Ledger = Callable[[str], Row | None]

BAD_ARGUMENTS = {
    "not JSON": '{"order_id": "A1", "amount_ce',
    "empty": "",
    "null": "null",
    "two objects": '{"order_id": "A1", "amount_cents": 500} {}',
    "a list": '[{"order_id": "A1", "amount_cents": 500}]',
    "no order": '{"amount_cents": 500}',
    "no amount": '{"order_id": "A1"}',
    "an extra key": '{"order_id": "A1", "amount_cents": 500, "currency": "EUR"}',
    "an empty order": '{"order_id": "", "amount_cents": 500}',
    "a blank order": '{"order_id": "  ", "amount_cents": 500}',
    "a number for an order": '{"order_id": 1, "amount_cents": 500}',
    "NUL in an order": '{"order_id": "A\\u00001", "amount_cents": 500}',
    "a lone surrogate": '{"order_id": "A\\ud800", "amount_cents": 500}',
    "zero": '{"order_id": "A1", "amount_cents": 0}',
    "negative": '{"order_id": "A1", "amount_cents": -1}',
    "a bool": '{"order_id": "A1", "amount_cents": true}',
    "a whole float": '{"order_id": "A1", "amount_cents": 500.0}',
    "a string of digits": '{"order_id": "A1", "amount_cents": "500"}',
    "infinity": '{"order_id": "A1", "amount_cents": Infinity}',
    "more than JSON can count": '{"order_id": "A1", "amount_cents": 9007199254740993}',
    "deep": "[" * 2000,
}


@pytest.mark.contract("C24", "C25", "C27", "C29", "C38", "C81")
@pytest.mark.fault("4.0:validation", 163, 165, 167, 169, 170, 171, 172, 175, 176, 177, 182, 183)
@pytest.mark.parametrize("arguments", BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS.keys())
def test_wrong_arguments_are_the_calls_error_and_do_not_count(
    chat: Chat, model: Model, payments: Payments, ledger: Ledger, arguments: str
) -> None:
    model.will(
        calls(call("issue_refund", arguments, id="call_bad")),
        calls_refund("A1", 500, id="call_good"),
        says("Refunded."),
    )

    answer = chat("refund 5.00 for order A1")

    assert answer.json() == {"reply": "Refunded."}
    (bad_id, bad), (good_id, good) = tool_results(model.requests[2])
    assert (bad_id, list(bad)) == ("call_bad", ["error"])
    assert (good_id, good["amount_cents"]) == ("call_good", 500)
    assert (payments.request_count, payments.moved) == (1, [("A1", 500)])
    assert states(ledger(turn_id(answer))) == "paid"


@pytest.mark.contract("C26", "C29", "C38")
def test_an_unknown_tool_is_the_calls_error_and_does_not_count(
    chat: Chat, model: Model, payments: Payments
) -> None:
    answer = chat("[unknown-tool] refund 5.00 for order A1")

    assert answer.status_code == 200
    results = tool_results(model.requests[2])
    assert list(results[0][1]) == ["error"]
    assert results[1][1]["amount_cents"] == 500
    assert payments.moved == [("A1", 500)]


@pytest.mark.contract("C29")
@pytest.mark.fault(148, 149)
@pytest.mark.parametrize("script", ["custom-tool-call", "dict-arguments", "null-arguments", "null-function"])
def test_a_call_of_a_strange_shape_is_the_calls_error(
    chat: Chat, model: Model, payments: Payments, script: str
) -> None:
    answer = chat(f"[{script}] refund 5.00 for order A1")

    assert answer.status_code == 200
    assert list(tool_results(model.requests[2])[0][1]) == ["error"]
    assert payments.moved == [("A1", 500)]


@pytest.mark.contract("C30", "C32")
@pytest.mark.fault(143, 158)
def test_every_call_of_a_message_is_answered_by_its_own_id_in_order(
    chat: Chat, model: Model, payments: Payments
) -> None:
    answer = chat("[ten-calls] refund 5.00 for order A1")

    assert answer.status_code == 200
    (asked,) = calls_of(model.requests[1])
    results = tool_results(model.requests[1])
    assert len(asked) == 10
    assert [call_id for call_id, _ in results] == asked
    assert [i for i, (_, content) in enumerate(results) if "error" not in content] == [5]
    assert payments.moved == [("A1", 500)]


@pytest.mark.contract("C30")
def test_calls_are_answered_in_order_whatever_their_ids(chat: Chat, model: Model, payments: Payments) -> None:
    made = [call("nothing", "{}", id="z"), refund_call("A1", 500, id="m"), call("nothing", "{}", id="a")]
    model.will(calls(*made), says("Done."))

    chat("refund 5.00 for order A1")

    assert [call_id for call_id, _ in tool_results(model.requests[1])] == ["z", "m", "a"]
    assert payments.moved == [("A1", 500)]


@pytest.mark.contract("C78")
@pytest.mark.fault(135, 137)
@pytest.mark.parametrize("script", ["length-cut", "length-whole"])
def test_calls_of_a_completion_cut_at_its_length_are_not_executed(
    chat: Chat, model: Model, payments: Payments, script: str
) -> None:
    answer = chat(f"[{script}] refund 5.00 for order A1")

    assert answer.status_code == 200
    assert list(tool_results(model.requests[1])[0][1]) == ["error"]
    assert payments.moved == [("A1", 500)], "the right call that followed was executed"


@pytest.mark.fault(138, 161)
@pytest.mark.parametrize("script", ["finish-stop-with-calls", "text-and-call"])
def test_calls_are_executed_by_their_presence_alone(
    chat: Chat, model: Model, payments: Payments, script: str
) -> None:
    answer = chat(f"[{script}] refund 5.00 for order A1")

    assert answer.status_code == 200
    assert len(tool_results(model.requests[1])) == 1
    assert payments.moved == [("A1", 500)]


@pytest.mark.fault(152)
def test_only_the_first_choice_is_read(chat: Chat, payments: Payments) -> None:
    answer = chat("[two-choices] refund 5.00 for order A1")

    assert answer.json() == {"reply": "I can refund that for you."}
    assert payments.request_count == 0


def states(row: Row | None) -> Any:
    return None if row is None else row["state"]
