"""The wall around a completion, and TLS: what is a time-out, and what is not."""

import socket
import threading

import pytest

from refund_agent.adapters.openai_model import OpenAIModel
from refund_agent.ports import Completed, CompletionAnswer, CompletionFailed, CompletionTimedOut
from refund_agent.turn import AssistantMessage, UserMessage
from sandbox.answers import Reply
from sandbox.http import serve
from sandbox.model import Model, says
from tests.unit.adapters.certificates import Certificate
from tests.unit.adapters.conftest import ModelAt
from tests.unit.adapters.cost import what_was_said
from tests.unit.adapters.hurry import WALL_SECONDS, within_the_wall
from tests.unit.adapters.wires import full_backlog, listen, over_tls, read_request, until_gone

fault = pytest.mark.fault

HELLO = b'{"choices": [{"message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}]}'


def ask(model: OpenAIModel, *, seconds: float = 5.0) -> CompletionAnswer:
    return model.complete([UserMessage("hello")], [], request_id="turn-1-1", timeout_seconds=seconds)


@fault(107, 111)
@pytest.mark.parametrize("script", ["timeout", "drip-headers", "drip-body"])
def test_an_answer_that_does_not_end_within_the_wall_is_a_time_out(
    model: OpenAIModel, provider: Model, script: str
) -> None:
    provider.will(script)

    with within_the_wall():
        answer = ask(model, seconds=WALL_SECONDS)

    assert answer == CompletionTimedOut()
    assert provider.request_count == 1


@fault(107, 111)
def test_a_connection_that_is_never_accepted_is_a_time_out(model_at: ModelAt) -> None:
    with full_backlog() as port, within_the_wall():
        url = f"http://127.0.0.1:{port}/v1"
        model = model_at(url)
        assert ask(model, seconds=WALL_SECONDS) == CompletionTimedOut()


@fault(107)
def test_the_wall_holds_under_tls(certificate: Certificate, model_at: ModelAt) -> None:
    def drip(wire: socket.socket) -> None:
        read_request(wire)
        until_gone(wire, every_seconds=0.01, send=b"H")

    with listen(over_tls(certificate.server_context(), drip)) as peer, within_the_wall():
        model = model_at(f"https://127.0.0.1:{peer.port}/v1", ca_file=str(certificate.file))
        assert ask(model, seconds=WALL_SECONDS) == CompletionTimedOut()


def test_time_spent_waiting_for_a_connection_counts(model_at: ModelAt, provider: Model) -> None:
    with serve(provider) as server:
        url = f"{server.url}/v1"
        model = model_at(url)
        provider.will("timeout", says("late"))
        first = threading.Thread(target=ask, args=(model,), kwargs={"seconds": WALL_SECONDS})
        first.start()
        assert provider.wait_for_requests(1)
        with within_the_wall():
            second = ask(model, seconds=0.2)
        first.join()

    assert second == CompletionTimedOut()
    assert provider.request_count == 1


@fault(112)
def test_a_certificate_that_nobody_vouches_for_is_a_failure(
    certificate: Certificate, model_at: ModelAt
) -> None:
    received: list[bytes] = []
    talk = over_tls(certificate.server_context(), lambda wire: received.append(read_request(wire)))
    with listen(talk) as peer:
        url = f"https://127.0.0.1:{peer.port}/v1"
        model = model_at(url)
        assert ask(model) == CompletionFailed("no answer: ConnectError")

    assert not any(received)


def test_a_trusted_certificate_lets_the_completion_through(
    certificate: Certificate, model_at: ModelAt
) -> None:
    def answer(wire: socket.socket) -> None:
        read_request(wire)
        wire.sendall(Reply(200, HELLO).encode())

    with listen(over_tls(certificate.server_context(), answer)) as peer:
        model = model_at(f"https://127.0.0.1:{peer.port}/v1", ca_file=str(certificate.file))
        assert what_was_said(ask(model)) == Completed(AssistantMessage("hello"))
