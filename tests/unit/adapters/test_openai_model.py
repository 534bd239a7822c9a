"""The model through the real SDK: one request, and a named ending whatever the provider does."""

import socket

import pytest
from structlog.testing import capture_logs

from refund_agent.adapters.openai_model import OpenAIModel
from refund_agent.ports import Completed, CompletionAnswer, CompletionFailed, ToolDeclaration
from refund_agent.prices import Price
from refund_agent.turn import AssistantMessage, Message, SystemMessage, ToolCall, ToolResult, UserMessage
from sandbox.answers import Reply
from sandbox.http import serve
from sandbox.model import Model, calls_refund, fails, says
from tests.unit.adapters.conftest import API_KEY, MODEL_NAME, ModelAt
from tests.unit.adapters.cost import what_was_said
from tests.unit.adapters.wires import OneAnswer, listen, read_request

fault = pytest.mark.fault
contract = pytest.mark.contract

TOOL = ToolDeclaration("issue_refund", "Refund.", {"type": "object", "properties": {}})
ASKED: list[Message] = [SystemMessage("Be kind."), UserMessage("refund A1")]
HELLO = b'{"choices": [{"message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}]}'


def ask(model: OpenAIModel, *messages: Message) -> CompletionAnswer:
    return model.complete(messages or ASKED, [TOOL], request_id="turn-1-1", timeout_seconds=5.0)


def rows(scripts: str, *covered: int | str) -> list[object]:
    return [pytest.param(script, marks=fault(*covered), id=script) for script in scripts.split()]


# --- The request ----------------------------------------------------------------------------------


@contract("C17")
def test_a_completion_is_one_request_with_the_transcript_and_the_tool(
    model: OpenAIModel, provider: Model
) -> None:
    provider.will(says("done"))
    call = ToolCall("call_7", "issue_refund", '{"order_id": "A1"}')
    told = ToolResult("call_7", '{"error": "no"}')

    answer = ask(
        model, *ASKED, AssistantMessage("", (call,)), told, AssistantMessage("Sorry."), UserMessage("?")
    )

    assert what_was_said(answer) == Completed(AssistantMessage("done"))
    (request,) = provider.requests
    assert request.body == {
        "model": MODEL_NAME,
        "n": 1,
        "temperature": 0,
        "max_tokens": 1024,
        "tools": [
            {
                "type": "function",
                "function": {"name": "issue_refund", "description": "Refund.", "parameters": TOOL.parameters},
            }
        ],
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "refund A1"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_7",
                        "type": "function",
                        "function": {"name": "issue_refund", "arguments": '{"order_id": "A1"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_7", "content": '{"error": "no"}'},
            {"role": "assistant", "content": "Sorry."},
            {"role": "user", "content": "?"},
        ],
    }
    assert request.headers["x-client-request-id"] == "turn-1-1"
    assert request.headers["authorization"] == f"Bearer {API_KEY}"
    assert request.headers["accept-encoding"] == "identity"
    assert request.headers["user-agent"].startswith("OpenAI/Python 1.")


@fault(140)
def test_without_tools_and_calls_neither_key_is_sent(model: OpenAIModel, provider: Model) -> None:
    history: list[Message] = [*ASKED, AssistantMessage(""), UserMessage("?")]

    assert isinstance(model.complete(history, [], request_id="t-1", timeout_seconds=5), Completed)

    (request,) = provider.requests
    assert "tools" not in request.body
    assert request.body["messages"][2] == {"role": "assistant", "content": ""}


@fault(126, 242)
@pytest.mark.usefixtures("hostile_environment")
def test_keys_addresses_and_proxies_of_the_environment_are_ignored(
    provider_url: str, provider: Model, model_at: ModelAt
) -> None:
    model = model_at(provider_url)
    provider.will(says("hello"))

    assert what_was_said(ask(model)) == Completed(AssistantMessage("hello"))

    (request,) = provider.requests
    assert request.headers["authorization"] == f"Bearer {API_KEY}"
    assert not request.headers.keys() & {"openai-organization", "openai-project"}


def test_an_idle_connection_serves_the_next_completion(model_at: ModelAt) -> None:
    service = OneAnswer(Reply(200, HELLO))
    with serve(service) as server:
        model = model_at(server.url)
        for _ in range(3):
            assert isinstance(ask(model), Completed)

    assert [request.number for request in service.requests] == [1, 2, 3]


def test_an_idle_connection_that_was_closed_is_not_used(model_at: ModelAt) -> None:
    def answer_and_close(wire: socket.socket) -> None:
        read_request(wire)
        wire.sendall(Reply(200, HELLO).encode())

    with listen(answer_and_close) as peer:
        url = f"http://127.0.0.1:{peer.port}"
        model = model_at(url)
        for _ in range(3):
            assert isinstance(ask(model), Completed)
            assert peer.closed.wait(5)
            peer.closed.clear()

    assert peer.connections == 3


# --- Failed: named, and never asked again ---------------------------------------------------------

REFUSALS = [
    *rows("http-500 http-502 http-503 http-529", 115),
    *rows("http-429", 114),
    *rows("http-400", 117),
    *rows("http-400-should-retry http-500-should-retry", 118),
    "redirect-307",
]


@contract("C19", "C21", "C69", "C70")
@pytest.mark.parametrize("script", REFUSALS)
def test_a_refusal_of_the_provider_is_one_request_and_named(
    model: OpenAIModel, provider: Model, script: str
) -> None:
    provider.will(script)

    answer = ask(model)

    assert answer == CompletionFailed(f"HTTP {next(part for part in script.split('-') if part.isdecimal())}")
    assert provider.request_count == 1


@fault(116)
@pytest.mark.parametrize("status", [401, 403, 404])
def test_being_refused_ourselves_alarms_and_tells_no_key(
    model: OpenAIModel, provider: Model, status: int
) -> None:
    provider.will(fails(status))

    with capture_logs() as logs:
        answer = ask(model)

    assert answer == CompletionFailed(f"HTTP {status}")
    assert {"event": "provider_refuses_us", "status": status, "log_level": "error"} in logs
    assert API_KEY not in repr(logs)


@fault(112)
@pytest.mark.parametrize("script", ["reset", "drop", "cut-content-length"])
def test_a_broken_connection_is_a_failure_and_not_a_time_out(
    model: OpenAIModel, provider: Model, script: str
) -> None:
    provider.will(script)

    answer = ask(model)

    assert isinstance(answer, CompletionFailed)
    assert provider.request_count == 1


@fault(112)
def test_a_refused_connection_is_a_failure(model_at: ModelAt) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    model = model_at(url)

    assert ask(model) == CompletionFailed("no answer: ConnectError")


@pytest.mark.parametrize("script", ["huge", "gzip-bomb"])
def test_an_answer_too_long_to_keep_is_refused(model: OpenAIModel, provider: Model, script: str) -> None:
    provider.will(script)

    assert ask(model) == CompletionFailed("no answer: AnswerRefused")
    assert provider.request_count == 1


def test_after_any_failure_the_next_completion_works(model: OpenAIModel, provider: Model) -> None:
    for script in ("huge", "reset", "drop", "html-200", "http-500", "cut-content-length"):
        provider.will(script, calls_refund("A1", 500, id="call_1"))

        assert isinstance(ask(model), CompletionFailed)
        assert what_was_said(ask(model)) == Completed(
            AssistantMessage(
                "", (ToolCall("call_1", "issue_refund", '{"order_id": "A1", "amount_cents": 500}'),)
            )
        )


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("charset", ["hex", "base64", "nowhere", "utf-7", "idna"])
def test_a_strange_charset_raises_nothing(model_at: ModelAt, status: int, charset: str) -> None:
    service = OneAnswer(Reply(status, b"\xff{", f"application/json; charset={charset}"))
    with serve(service) as server:
        model = model_at(server.url)
        assert isinstance(ask(model), CompletionFailed)


def test_a_message_that_cannot_be_encoded_is_a_failure(model: OpenAIModel, provider: Model) -> None:
    assert ask(model, UserMessage("\ud800")) == CompletionFailed("UnicodeEncodeError")
    assert provider.request_count == 0


@pytest.mark.parametrize("price", [Price(read_cents=15, written_cents=60), None], ids=["priced", "unpriced"])
def test_a_completion_tells_its_model_its_tokens_and_what_they_cost(
    provider_url: str, provider: Model, price: Price | None
) -> None:
    model = OpenAIModel(api_key="k", base_url=provider_url, model=MODEL_NAME, connections=1, price=price)
    provider.will(says("done"))

    answer = ask(model)
    model.close()

    assert isinstance(answer, Completed)
    assert answer.model == MODEL_NAME
    assert 0 < answer.read_tokens < answer.tokens
    known = None if price is None else price.of(tokens=answer.tokens, read_tokens=answer.read_tokens)
    assert answer.cost_microdollars == known
