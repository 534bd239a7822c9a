"""The model stand-in, asked through the real SDK."""

import json
import threading
from typing import Any

import openai
import pytest
import requests
from openai.types.chat import ChatCompletion

from sandbox.http import Server
from sandbox.model import (
    Model,
    call,
    calls,
    calls_refund,
    fails,
    gives,
    hangs,
    raw,
    refund_call,
    resets,
    says,
)

MODEL = "gpt-4o-mini-2024-07-18"
RECEIPT = {"refund_id": "rf_1", "status": "succeeded", "amount_cents": 500}


def tool(name: str) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object", "properties": {}}},
    }


class Chat:
    """A turn as our service leads it: every call is answered, every completion numbered."""

    def __init__(
        self, client: openai.OpenAI, said: str, *, tools: tuple[str, ...] = ("issue_refund",)
    ) -> None:
        self._client = client
        self._tools = [tool(name) for name in tools]
        self.messages: list[Any] = [{"role": "user", "content": said}]
        self.completions = 0

    def complete(self) -> ChatCompletion:
        self.completions += 1
        return self._client.chat.completions.create(
            model=MODEL,
            messages=self.messages,
            tools=self._tools or openai.NOT_GIVEN,  # type: ignore[arg-type]  # the SDK's own sentinel
            extra_headers={"X-Client-Request-Id": f"turn-{self.completions}"},
        )

    def ask(self) -> list[tuple[str, Any]]:
        """Complete once and keep what was asked for; give each call's name and arguments."""
        message = self.complete().choices[0].message
        self.messages.append(message.model_dump(exclude_none=True))
        return [(c.function.name, json.loads(c.function.arguments)) for c in message.tool_calls or ()]  # type: ignore[union-attr]  # no custom tools here

    def answer(self, *results: object) -> None:
        calls_asked = self.messages[-1]["tool_calls"]
        for asked, result in zip(calls_asked, results, strict=True):
            self.messages.append({"role": "tool", "tool_call_id": asked["id"], "content": json.dumps(result)})

    def text(self) -> str | None:
        return self.complete().choices[0].message.content


def test_a_refund_in_plain_english_is_called_for_and_confirmed(sdk: openai.OpenAI) -> None:
    chat = Chat(sdk, "refund 49.99 for order ORD-1001")
    assert chat.ask() == [("issue_refund", {"order_id": "ORD-1001", "amount_cents": 4999})]
    chat.answer({"refund_id": "rf_000007", "status": "succeeded", "amount_cents": 4999})
    text = chat.text()
    assert text is not None
    assert "49.99" in text
    assert "rf_000007" in text


def test_what_is_missing_is_asked_for_and_then_put_together(sdk: openai.OpenAI) -> None:
    chat = Chat(sdk, "I want a refund for order A1")
    assert chat.ask() == []
    assert "How much" in chat.messages[-1]["content"]
    chat.messages.append({"role": "user", "content": "5.00 please"})
    assert chat.ask() == [("issue_refund", {"order_id": "A1", "amount_cents": 500})]


def test_a_new_message_after_a_refund_starts_afresh(sdk: openai.OpenAI) -> None:
    chat = Chat(sdk, "refund 5.00 for order A1")
    chat.ask()
    chat.answer(RECEIPT)
    chat.messages += [
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "and a refund for A2"},
    ]
    assert chat.ask() == []
    assert "How much should I refund for order A2" in chat.messages[-1]["content"]


def test_a_greeting_is_greeted(sdk: openai.OpenAI) -> None:
    text = Chat(sdk, "hello").text()
    assert text is not None
    assert text.startswith("Hello!")


@pytest.mark.parametrize("tools", [(), ("get_order", "hand_off")])
def test_a_tool_that_is_not_on_offer_is_not_called(sdk: openai.OpenAI, tools: tuple[str, ...]) -> None:
    chat = Chat(sdk, "refund 5.00 for order A1", tools=tools)
    assert chat.ask() == []


def test_the_tool_is_found_among_others(sdk: openai.OpenAI) -> None:
    chat = Chat(sdk, "refund 5.00 for order A1", tools=("get_order", "issue_refund"))
    assert [name for name, _ in chat.ask()] == ["issue_refund"]


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"error": "outcome unknown: the refund was requested"}, "not sure yet"),
        ({"error": "payments rejected the refund; no money moved: no such order"}, "no such order"),
        ({"error": "the refund was not sent; no money moved"}, "not sent"),
    ],
)
def test_what_became_of_the_refund_is_told_honestly(sdk: openai.OpenAI, result: object, words: str) -> None:
    chat = Chat(sdk, "refund 5.00 for order A1")
    chat.ask()
    chat.answer(result)
    text = chat.text()
    assert text is not None
    assert words in text
    assert "has been sent" not in text


def test_queued_answers_come_in_order_whatever_is_asked(model: Model, sdk: openai.OpenAI) -> None:
    two = calls(
        refund_call("A1", 1, id="call_1"), call("other", "not json", id="call_2"), content="One moment."
    )
    model.will(two, calls_refund("A2", 2), says("Done."), says(None))
    chat = Chat(sdk, "hello")
    first = chat.complete().choices[0]
    assert (first.finish_reason, first.message.content) == ("tool_calls", "One moment.")
    asked = [(c.id, c.function.arguments) for c in first.message.tool_calls or ()]  # type: ignore[union-attr]  # no custom tools here
    assert asked == [("call_1", '{"order_id": "A1", "amount_cents": 1}'), ("call_2", "not json")]
    assert chat.ask() == [("issue_refund", {"order_id": "A2", "amount_cents": 2})]
    chat.answer(RECEIPT)
    assert chat.text() == "Done."
    assert chat.text() is None
    assert chat.text() == "Your refund of 5.00 has been sent. Its reference is rf_1 (status: succeeded)."


def test_any_shape_and_any_failure_can_be_queued(model: Model, sdk: openai.OpenAI) -> None:
    model.will(
        gives(None), raw(200, "[1]"), fails(503), resets(), "http-401", raw(418, b"tea", {"X-Tea": "1"})
    )
    chat = Chat(sdk, "hello")
    assert chat.complete().choices[0].message is None
    not_a_completion: Any = chat.complete()
    assert not_a_completion == [1]
    for error in (openai.InternalServerError, openai.APIConnectionError, openai.AuthenticationError):
        with pytest.raises(error):
            chat.complete()
    with pytest.raises(openai.APIStatusError) as caught:
        chat.complete()
    assert (caught.value.status_code, caught.value.response.headers["X-Tea"]) == (418, "1")


def test_a_queued_hang_is_a_timeout_and_then_the_next_answer_comes(model: Model, sdk: openai.OpenAI) -> None:
    model.will(hangs(), says("Here."))
    chat = Chat(sdk.with_options(timeout=0.2), "hello")
    with pytest.raises(openai.APITimeoutError):
        chat.complete()
    assert chat.text() == "Here."


def test_a_script_that_does_not_exist_cannot_be_queued(model: Model) -> None:
    with pytest.raises(ValueError, match="no-such-script"):
        model.will("no-such-script")


def test_every_request_is_kept_for_the_test_to_look_at(model: Model, sdk: openai.OpenAI) -> None:
    Chat(sdk, "hello").complete()
    request = model.requests[0]
    assert request.body["messages"] == [{"role": "user", "content": "hello"}]
    assert request.headers["x-client-request-id"] == "turn-1"
    assert request.headers["authorization"] == "Bearer k"
    assert model.request_count == 1


def test_a_test_can_wait_for_a_request_without_sleeping(model: Model, sdk: openai.OpenAI) -> None:
    thread = threading.Thread(target=Chat(sdk, "hello").complete)
    thread.start()
    assert model.wait_for_requests(1)
    thread.join()
    assert not model.wait_for_requests(2, timeout_seconds=0.01)


def test_a_wrong_history_is_refused_as_openai_refuses_it(sdk: openai.OpenAI) -> None:
    chat = Chat(sdk, "refund 5.00 for order A1")
    chat.ask()
    with pytest.raises(openai.BadRequestError) as caught:
        chat.complete()
    assert caught.value.param == "messages.[2].role"
    assert caught.value.type == "invalid_request_error"
    assert "must be followed by tool messages" in caught.value.message


def test_a_request_without_a_key_is_refused(model_server: Server) -> None:
    with requests.Session() as session:
        response = session.post(f"{model_server.url}/v1/chat/completions", json={}, timeout=5)
    assert response.status_code == 401
    assert response.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("body", [b"", b"{", b"null", b"[" * 100_000, b'{"model": "m", "messages": [1]}'])
def test_a_body_of_any_shape_is_refused_and_breaks_nothing(model_server: Server, body: bytes) -> None:
    with requests.Session() as session:
        headers = {"Authorization": "Bearer k"}
        response = session.post(
            f"{model_server.url}/v1/chat/completions", data=body, headers=headers, timeout=5
        )
    assert response.status_code == 400


def test_the_model_is_listed(sdk: openai.OpenAI) -> None:
    assert [model.id for model in sdk.models.list()] == [MODEL]


def test_a_completion_takes_the_time_it_is_told_to(
    model: Model, sdk: openai.OpenAI, model_server: Server
) -> None:
    with requests.Session() as session:
        for wrong in (None, {"delay_seconds": -1}, {"delay_seconds": "1"}, {"delay_seconds": 1, "more": 2}):
            assert session.post(f"{model_server.url}/v1/settings", json=wrong, timeout=5).status_code == 422
        session.post(f"{model_server.url}/v1/settings", json={"delay_seconds": 30}, timeout=5)
    assert model.delay_seconds == 30.0
    with pytest.raises(openai.APITimeoutError):
        Chat(sdk.with_options(timeout=0.2), "hello").complete()


def test_the_page_lists_the_scripts(model_server: Server) -> None:
    with requests.Session() as session:
        page = session.get(f"{model_server.url}/v1/", timeout=5)
        assert "[two-calls]" in page.text
        assert "default-src 'none'" in page.headers["Content-Security-Policy"]
        assert session.get(f"{model_server.url}/v1/nothing", timeout=5).status_code == 404
