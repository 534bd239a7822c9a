"""The model's scripts that fail: each in its own way, and each for one request."""

import json
import socket

import httpx
import openai
import pytest

from sandbox.http import Server
from sandbox.model import Model
from tests.unit.sandbox.scripted_turn import MODEL, Turn

ERRORS: dict[str, type[Exception]] = {
    "html-200-as-json": json.JSONDecodeError,
    "empty-200": json.JSONDecodeError,
    "cut-json": json.JSONDecodeError,
    "http-400": openai.BadRequestError,
    "http-401": openai.AuthenticationError,
    "http-403": openai.PermissionDeniedError,
    "http-404": openai.NotFoundError,
    "http-429": openai.RateLimitError,
    "http-500": openai.InternalServerError,
    "http-502": openai.InternalServerError,
    "http-503": openai.InternalServerError,
    "http-529": openai.InternalServerError,
    "http-400-should-retry": openai.BadRequestError,
    "http-500-should-retry": openai.InternalServerError,
    "reset": openai.APIConnectionError,
    "drop": openai.APIConnectionError,
    "cut-content-length": openai.APIConnectionError,
}


@pytest.mark.parametrize("script", ERRORS)
def test_a_script_fails_in_its_own_way(model: Model, sdk: openai.OpenAI, script: str) -> None:
    with pytest.raises(ERRORS[script]) as caught:
        Turn(sdk, script).complete()
    assert caught.type is ERRORS[script]
    assert model.request_count == 1


def test_a_timeout_never_answers(model: Model, sdk: openai.OpenAI) -> None:
    assert Turn(sdk, "timeout").times_out()
    assert model.request_count == 1


def test_html_that_says_so_comes_back_as_a_text(sdk: openai.OpenAI) -> None:
    assert Turn(sdk, "html-200").complete().startswith("<!doctype html>")


def test_a_rate_limit_says_when_to_come_back(sdk: openai.OpenAI) -> None:
    with pytest.raises(openai.RateLimitError) as caught:
        Turn(sdk, "http-429").complete()
    assert caught.value.response.headers["Retry-After"] == "3600"


def test_should_retry_makes_a_client_with_retries_come_again(model: Model, sdk: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError):
        Turn(sdk.with_options(max_retries=1), "http-400-should-retry").complete()
    assert model.request_count == 2


def test_a_redirect_leads_to_the_same_address(model: Model, model_server: Server) -> None:
    with (
        httpx.Client(follow_redirects=False) as http,
        openai.OpenAI(api_key="k", base_url=f"{model_server.url}/v1", max_retries=0, http_client=http) as sdk,
        pytest.raises(openai.APIStatusError) as caught,
    ):
        Turn(sdk, "redirect-307").complete()
    assert caught.value.status_code == 307
    assert model.request_count == 1


def test_a_redirect_that_is_followed_never_ends(model: Model, sdk: openai.OpenAI) -> None:
    with pytest.raises(openai.APIConnectionError):
        Turn(sdk, "redirect-307").complete()
    assert model.request_count > 10


@pytest.mark.parametrize(
    ("script", "start"), [("drip-headers", b"HTTP"), ("drip-body", b"HTTP/1.1 200 OK\r\n")]
)
def test_a_drip_comes_byte_by_byte(model_server: Server, script: str, start: bytes) -> None:
    body = json.dumps({"model": MODEL, "messages": [{"role": "user", "content": f"[{script}] hello"}]})
    start_line = "POST /v1/chat/completions HTTP/1.1"
    head = f"{start_line}\r\nAuthorization: Bearer k\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((model_server.host, model_server.port), timeout=2) as connection:
        connection.sendall((head + body).encode())
        received = b"".join(connection.recv(1000) for _ in range(10))
    assert received.startswith(start)
    assert len(received) < 150
