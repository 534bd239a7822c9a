"""The stand-ins on loopback, each with a client that is not ours."""

from collections.abc import Iterator

import openai
import pytest
import requests

from sandbox.http import Server, serve
from sandbox.model import Model
from sandbox.payments import Payments
from tests.unit.sandbox.payments_client import PaymentsClient


@pytest.fixture
def payments() -> Payments:
    payments = Payments()
    payments.pace.slow_seconds = 0.05
    payments.pace.late_seconds = 0.05
    payments.pace.drip_seconds = 0.001
    return payments


@pytest.fixture
def client(payments: Payments) -> Iterator[PaymentsClient]:
    with serve(payments) as server, requests.Session() as session:
        yield PaymentsClient(server.url, session)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def model_server(model: Model) -> Iterator[Server]:
    with serve(model) as server:
        yield server


@pytest.fixture
def sdk(model_server: Server) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(api_key="k", base_url=f"{model_server.url}/v1", max_retries=0, timeout=5) as client:
        yield client


@pytest.fixture
def session() -> Iterator[requests.Session]:
    with requests.Session() as session:
        yield session
