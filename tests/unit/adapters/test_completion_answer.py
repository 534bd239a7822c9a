"""Whatever shape a provider answers in: one completion, or a named failure, and never an exception."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from refund_agent.adapters.completion_answer import MAX_TOOL_CALLS, read_completion
from refund_agent.adapters.openai_model import OpenAIModel
from refund_agent.ports import Completed, CompletionFailed
from refund_agent.turn import UserMessage
from sandbox.model import Model
from tests.unit.adapters.choices import call, function, read

fault = pytest.mark.fault
contract = pytest.mark.contract


def rows(scripts: str, *covered: int | str) -> list[object]:
    return [pytest.param(script, marks=fault(*covered), id=script) for script in scripts.split()]


# --- Not a completion: the provider failed --------------------------------------------------------

NOT_COMPLETIONS = [
    *rows("html-200 html-200-as-json empty-200 cut-json", 120),
    *rows("choices-missing choices-null choices-empty", 127),
    *rows("error-object-200", 128),
    *rows("message-null", 130),
    "not-an-object-list",
    "not-an-object-string",
    "not-an-object-null",
]


@contract("C69", "C70")
@pytest.mark.parametrize("script", NOT_COMPLETIONS)
def test_a_200_that_is_no_completion_is_one_request_and_a_failure(
    model: OpenAIModel, provider: Model, script: str
) -> None:
    provider.will(script)

    answer = model.complete([UserMessage("hi")], [], request_id="t-1", timeout_seconds=5)

    assert isinstance(answer, CompletionFailed)
    assert provider.request_count == 1


@fault(127, 130)
@pytest.mark.parametrize(
    "body",
    [
        {"choices": {}},
        {"choices": [None]},
        {"choices": ["hello"]},
        {"choices": [[]]},
        {"choices": [{}]},
        {"choices": [{"message": []}]},
        {"choices": [{"message": "hello"}]},
        {"choices": [{"message": {"content": 7}}]},
        {"choices": [{"message": {"content": ["hello"]}}]},
        {"choices": [{"message": {"tool_calls": "all"}}]},
        {"choices": [{"message": {"tool_calls": {"id": "call_1"}}}]},
        {"choices": [{"message": {"tool_calls": [call()] * (MAX_TOOL_CALLS + 1)}}]},
    ],
    ids=lambda body: json.dumps(body)[:60],
)
def test_a_body_of_another_shape_is_a_failure(body: object) -> None:
    assert isinstance(read_completion(json.dumps(body).encode()), CompletionFailed)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-9, 2**53 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "choices",
                        "message",
                        "content",
                        "tool_calls",
                        "function",
                        "name",
                        "arguments",
                        "id",
                        "type",
                    ]
                ),
                inner,
            )
        ),
        max_leaves=12,
    )
)
def test_no_shape_breaks_the_reading(value: object) -> None:
    for body in (value, {"choices": [value]}, {"choices": [{"message": value}]}):
        answer = read_completion(json.dumps(body).encode())
        assert isinstance(answer, Completed | CompletionFailed)
    answer = read({"tool_calls": [value, {"function": value}, function(arguments=value)]})
    assert len({made.id for made in answer.message.tool_calls}) == 3
    answer_as_json = json.dumps([made.arguments for made in answer.message.tool_calls], ensure_ascii=False)
    assert answer_as_json.encode()


# --- A completion with text -----------------------------------------------------------------------

TEXTS = [
    pytest.param("null-text", "", marks=fault(131)),
    pytest.param("empty-text", ""),
    pytest.param("refusal", "", marks=[fault(132), contract("C77")]),
    pytest.param("content-filter", "", marks=fault(134)),
    pytest.param("role-user", None, marks=fault(153)),
    pytest.param("finish-tool-calls-empty", None, marks=fault(139)),
    pytest.param("two-choices", "I can refund that for you.", marks=fault(152)),
]


@pytest.mark.parametrize(("script", "text"), TEXTS)
def test_an_odd_text_is_a_completion_without_calls(
    model: OpenAIModel, provider: Model, script: str, text: str | None
) -> None:
    provider.will(script)

    answer = model.complete([UserMessage("hi")], [], request_id="t-1", timeout_seconds=5)

    assert isinstance(answer, Completed)
    assert not answer.message.tool_calls
    assert not answer.truncated
    assert text is None or answer.message.content == text


@fault(134)
def test_a_filtered_answer_is_logged_without_its_text() -> None:
    with capture_logs() as logs:
        read({"content": "", "refusal": "I cannot say it"}, finish_reason="content_filter")

    assert [entry["event"] for entry in logs] == ["completion_refused"]
    assert "I cannot" not in repr(logs)


@fault(155)
@pytest.mark.parametrize("script", ["nul-in-content", "surrogate-in-content"])
def test_a_text_that_no_store_takes_is_mended(model: OpenAIModel, provider: Model, script: str) -> None:
    provider.will(script)

    answer = model.complete([UserMessage("hi")], [], request_id="t-1", timeout_seconds=5)

    assert isinstance(answer, Completed)
    assert "\ufffd" in answer.message.content
    assert "\x00" not in answer.message.content
    answer.message.content.encode()


@fault(156)
def test_a_text_of_a_megabyte_is_capped(model: OpenAIModel, provider: Model) -> None:
    provider.will("big-content")

    answer = model.complete([UserMessage("hi")], [], request_id="t-1", timeout_seconds=5)

    assert isinstance(answer, Completed)
    assert len(answer.message.content) == 32_000


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"total_tokens": 812}, 812),
        ({"total_tokens": 0}, 0),
        ({"prompt_tokens": 5}, 0),
        ({"total_tokens": None}, 0),
        ({"total_tokens": "812"}, 0),
        ({"total_tokens": 8.5}, 0),
        ({"total_tokens": True}, 0),
        ({"total_tokens": -3}, 0),
        ({"total_tokens": 10**9}, 10_000_000),
        (None, 0),
        ([], 0),
        ("many", 0),
    ],
)
def test_a_completion_carries_its_tokens_where_the_provider_says_them_plainly(
    usage: object, tokens: int
) -> None:
    body = {"choices": [{"message": {"content": "hi"}}], "usage": usage}
    answer = read_completion(json.dumps(body).encode())

    assert isinstance(answer, Completed)
    assert answer.tokens == tokens
