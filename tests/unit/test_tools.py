"""What the toolbox offers, and that every call it is given is answered by the call's own id."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refund_agent.outcomes import CallPosition, Superseded
from refund_agent.tools import MAX_ERROR_LENGTH, IssueRefundArguments, Tool, Toolbox, error
from refund_agent.turn import ToolCall, ToolResult
from tests.unit.desk import Desk
from tests.unit.spy_tool import Spy, arguments

contract = pytest.mark.contract


@pytest.fixture
def spy() -> Spy:
    return Spy()


# --- The declaration ------------------------------------------------------------------------------


@contract("C22")
def test_the_model_is_offered_exactly_one_tool(desk: Desk) -> None:
    assert [tool.name for tool in desk.toolbox.declarations] == ["issue_refund"]


@contract("C23")
def test_the_tool_declares_exactly_two_required_arguments_and_no_others(desk: Desk) -> None:
    parameters: dict[str, Any] = desk.toolbox.declarations[0].parameters

    assert parameters["type"] == "object"
    assert parameters["additionalProperties"] is False
    assert sorted(parameters["required"]) == ["amount_cents", "order_id"]
    assert set(parameters["properties"]) == {"order_id", "amount_cents"}
    order_id, amount = parameters["properties"]["order_id"], parameters["properties"]["amount_cents"]
    assert (order_id["type"], order_id["minLength"]) == ("string", 1)
    assert (amount["type"], amount["minimum"]) == ("integer", 1)


# --- The call itself ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "refund", "Issue_Refund", "issue_refund ", "functions.issue_refund"])
@contract("C26")
def test_an_unknown_tool_name_is_that_calls_error(spy: Spy, name: str) -> None:
    assert "there is no tool" in spy.refuses(arguments(), name=name)


@pytest.mark.parametrize("name", ["x" * 10_000, "\ud800", "a\x00b"])
def test_an_absurd_tool_name_is_echoed_shortly_and_safely(spy: Spy, name: str) -> None:
    spy.refuses(arguments(), name=name).encode()


def test_a_call_that_could_not_be_read_is_answered_with_its_problem(spy: Spy) -> None:
    assert spy.refuses(arguments(), problem="not a function call") == "not a function call"


def test_losing_the_turn_is_not_told_to_the_model(spy: Spy) -> None:
    lost = Tool("issue_refund", "Refund.", IssueRefundArguments(), lambda *_: Superseded())
    call = ToolCall("call-7", "issue_refund", arguments())

    assert Toolbox([lost]).answer(spy.turn, CallPosition(1, 0), call) == Superseded()


@given(st.text(), st.text())
@contract("C29")
def test_whatever_the_name_and_the_id_the_call_is_answered_by_its_own_id(name: str, call_id: str) -> None:
    spy = Spy()
    result = spy.toolbox.answer(spy.turn, CallPosition(1, 0), ToolCall(call_id, name, "{}"))

    assert isinstance(result, ToolResult)
    assert result.call_id == call_id
    assert list(json.loads(result.content)) == ["error"]


@given(st.text(max_size=2000))
def test_an_error_is_short(text: str) -> None:
    assert len(str(error(text)["error"])) <= MAX_ERROR_LENGTH
