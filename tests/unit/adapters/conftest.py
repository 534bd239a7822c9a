"""Real servers on loopback for the adapters: the two stand-ins, and certificates made for the run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from refund_agent.adapters.http_payments import HttpPayments
from refund_agent.adapters.openai_model import OpenAIModel
from sandbox.http import serve
from sandbox.model import Model
from sandbox.payments import Payments
from tests.unit.adapters.certificates import Certificate, make_certificate

TOKEN = "tok-0123456789"
API_KEY = "sk-unit-test-key"
MODEL_NAME = "gpt-4o-mini-2024-07-18"


class ModelAt(Protocol):
    """Makes a model of an address."""

    def __call__(self, base_url: str, *, ca_file: str | None = None, connections: int = 1) -> OpenAIModel: ...


@pytest.fixture
def payments() -> Payments:
    return Payments()


@pytest.fixture
def payments_url(payments: Payments) -> Iterator[str]:
    with serve(payments) as server:
        yield server.url


@pytest.fixture
def client(payments_url: str) -> HttpPayments:
    """Ask the payments stand-in, with time enough for an answer that comes at once."""
    return HttpPayments(payments_url, TOKEN, 5.0)


@pytest.fixture
def hurried(payments_url: str) -> HttpPayments:
    """Ask the payments stand-in behind a wall of 0.3 s."""
    return HttpPayments(payments_url, TOKEN, 0.3)


@pytest.fixture
def provider() -> Model:
    return Model()


@pytest.fixture
def provider_url(provider: Model) -> Iterator[str]:
    with serve(provider) as server:
        yield f"{server.url}/v1"


@pytest.fixture
def model_at() -> Iterator[ModelAt]:
    """Make models of an address, closed after the test."""
    made: list[OpenAIModel] = []

    def make(base_url: str, *, ca_file: str | None = None, connections: int = 1) -> OpenAIModel:
        made.append(
            OpenAIModel(
                api_key=API_KEY,
                base_url=base_url,
                model=MODEL_NAME,
                connections=connections,
                ca_file=ca_file,
            )
        )
        return made[-1]

    yield make
    for model in made:
        model.close()


@pytest.fixture
def model(provider_url: str, model_at: ModelAt) -> OpenAIModel:
    """Ask the model stand-in."""
    return model_at(provider_url, connections=4)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """Give a certificate for 127.0.0.1 that nobody but its own file vouches for."""
    return make_certificate(tmp_path_factory.mktemp("tls"), days=1)


@pytest.fixture(scope="session")
def expired_certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"), days=-1)


@pytest.fixture
def hostile_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Plant everything by which an environment redirects an HTTP client."""
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login someone password else\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.setenv(name, "/nowhere/ca.pem")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-from-the-environment")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-from-the-environment")
