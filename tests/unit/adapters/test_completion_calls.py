"""The tool calls of a completion: each has an id to be answered by, and can be sent back as it is kept."""

import json

import pytest

from refund_agent.adapters.completion_answer import INVALID_NAME, MAX_COMPLETION_TOKENS, read_completion
from refund_agent.adapters.openai_model import OpenAIModel
from refund_agent.ports import Completed
from refund_agent.turn import AssistantMessage, Message, SystemMessage, ToolCall, ToolResult, UserMessage
from sandbox.model import Model, says
from tests.unit.adapters.choices import GOOD, call, function, read, read_calls
from tests.unit.adapters.cost import what_was_said

fault = pytest.mark.fault
contract = pytest.mark.contract


@fault(138)
def test_the_calls_decide_whatever_the_finish_reason_says() -> None:
    for reason in ("stop", "tool_calls", "function_call", None, 7, ["length"]):
        answer = read({"content": "text", "tool_calls": [call()]}, finish_reason=reason)
        assert answer == Completed(
            AssistantMessage("text", (ToolCall("call_a", "issue_refund", json.dumps(GOOD)),))
        )


@fault(135)
@contract("C78")
@pytest.mark.parametrize("script", ["length-cut", "length-whole", "length-text"])
def test_a_completion_cut_at_its_limit_says_so(model: OpenAIModel, provider: Model, script: str) -> None:
    provider.will(script)

    answer = model.complete([UserMessage("refund A1")], [], request_id="t-1", timeout_seconds=5)

    assert isinstance(answer, Completed)
    assert answer.truncated


@fault(137)
@pytest.mark.parametrize(
    ("used", "truncated"),
    [
        (MAX_COMPLETION_TOKENS, True),
        (MAX_COMPLETION_TOKENS + 9, True),
        (MAX_COMPLETION_TOKENS - 1, False),
        (None, False),
    ],
)
def test_a_completion_that_used_every_token_is_cut_whatever_it_says(used: object, truncated: bool) -> None:  # noqa: FBT001 - a table
    body = {
        "choices": [{"message": {"tool_calls": [call()]}, "finish_reason": "tool_calls"}],
        "usage": {"completion_tokens": used},
    }
    answer = read_completion(json.dumps(body).encode())

    assert isinstance(answer, Completed)
    assert answer.truncated == truncated


UNREADABLE: list[object] = [
    pytest.param(call(type="custom"), marks=fault(148)),
    pytest.param(call(type="banana"), marks=fault(148)),
    pytest.param(call(type=None), marks=fault(148)),
    pytest.param({"id": "call_c", "type": "custom", "custom": {"name": "issue_refund"}}, marks=fault(148)),
    pytest.param(call(function=None), marks=fault(149)),
    pytest.param(call(function=[]), marks=fault(149)),
    pytest.param(function(name=None), marks=fault(149)),
    function(name=""),
    function(name="issue refund"),
    function(name="issue_refund\n"),
    function(name="x" * 65),
    function(arguments=GOOD),
    function(arguments=None),
    function(arguments=[]),
    function(arguments='{"order_id": "A\x001", "amount_cents": 500}'),
    pytest.param(function(arguments='{"order_id": "\ud800", "amount_cents": 500}'), marks=contract("C81")),
    function(arguments=" " * 4097),
    function(arguments="\u20ac" * 1366),
    None,
    "issue_refund",
    [],
]


@fault(159)
@pytest.mark.parametrize("entry", UNREADABLE, ids=range(len(UNREADABLE)))
def test_a_call_that_cannot_be_read_has_a_problem_and_is_safe_to_send_back(
    model: OpenAIModel, provider: Model, entry: object
) -> None:
    (made,) = read_calls(entry)

    assert made.problem
    assert made.name in {"issue_refund", INVALID_NAME}
    assert len(made.arguments) <= 4096
    provider.will(says("done"))
    history: list[Message] = [
        SystemMessage("Be kind."),
        UserMessage("refund A1"),
        AssistantMessage("", (made,)),
        ToolResult(made.id, '{"error": "no"}'),
    ]
    # The stand-in refuses what OpenAI refuses.
    again = model.complete(history, [], request_id="t-2", timeout_seconds=5)
    assert what_was_said(again) == Completed(AssistantMessage("done"))


def test_a_call_of_2023_is_answered_and_never_run(model: OpenAIModel, provider: Model) -> None:
    provider.will("legacy-function-call")

    answer = model.complete([UserMessage("refund A1")], [], request_id="t-1", timeout_seconds=5)

    assert isinstance(answer, Completed)
    (made,) = answer.message.tool_calls
    assert made.problem
    assert (made.id, made.name, made.arguments) == ("call_0", INVALID_NAME, "null")


def test_a_call_without_a_type_is_a_function_call() -> None:
    entry = call()
    del entry["type"]

    assert read_calls(entry) == (ToolCall("call_a", "issue_refund", json.dumps(GOOD)),)


@fault(180)
def test_a_megabyte_of_arguments_is_not_kept() -> None:
    (made,) = read_calls(function(arguments="x" * 1_000_000))

    assert len(made.arguments) == 200
    assert made.problem


# --- Ids ------------------------------------------------------------------------------------------


@contract("C30")
def test_a_call_keeps_its_own_id() -> None:
    ids = ["call_abc", "ümlaut", "x" * 40, "1"]

    assert [made.id for made in read_calls(*(call(id=given) for given in ids))] == ids


@pytest.mark.parametrize("bad", [None, 7, "", "  ", ["call_1"], "x" * 41, "call\x00", "\ud800"])
def test_a_call_without_a_usable_id_is_given_one(bad: object) -> None:
    ids = [made.id for made in read_calls(call(id=bad), call(id="call_0"), call(id=bad))]

    assert ids == ["call_1", "call_0", "call_2"]


def test_two_calls_of_one_id_are_told_apart() -> None:
    ids = [made.id for made in read_calls(call(), call(), call(id="call_1"), call())]

    assert ids[0] == "call_a"
    assert ids[2] == "call_1"
    assert len(set(ids)) == 4
