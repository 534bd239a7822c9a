"""No request is sent twice, or to anybody else, and a session that could do so never starts."""

import pytest
import requests
from requests.adapters import BaseAdapter, HTTPAdapter
from urllib3.util import Retry

from refund_agent.adapters.http_payments import HttpPayments, RetryingSession, refuse_retrying
from refund_agent.outcomes import Unknown
from sandbox import broken
from sandbox.answers import Reply
from sandbox.http import serve
from sandbox.payments import Payments
from tests.unit.adapters.conftest import TOKEN
from tests.unit.adapters.wires import OneAnswer

fault = pytest.mark.fault
contract = pytest.mark.contract


class UnknownAdapter(BaseAdapter):
    """Sends in a way that the self-check cannot know."""

    def close(self) -> None:
        return None


@fault(219)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_elsewhere_is_not_followed_and_carries_no_token(
    client: HttpPayments, payments: Payments, status: int
) -> None:
    elsewhere = Payments()
    payments.mode = f"redirect-{status}-away"
    with serve(elsewhere) as other:
        payments.pace.redirect_url = f"{other.url}/refunds"
        answer = client.refund("A1", 500, send_within_seconds=5.0)

    assert answer == Unknown(f"HTTP {status}")
    assert (elsewhere.request_count, elsewhere.followed_redirects) == (0, 0)
    assert payments.request_count == 1


@fault(212, "4.0:redirect")
def test_the_body_of_a_redirect_is_not_unpacked() -> None:
    bomb = broken.gzip_bomb(Reply(200, b"{}"))
    assert isinstance(bomb, Reply)
    service = OneAnswer(Reply(307, bomb.body, headers=(*bomb.headers, ("Location", "/elsewhere"))))

    with serve(service) as server:
        answer = HttpPayments(server.url, TOKEN, 5.0).refund("A1", 500, send_within_seconds=5.0)

    assert isinstance(answer, Unknown)
    assert "longer than 65536 bytes" in answer.reason
    assert len(service.requests) == 1


@contract("C21")
@fault(241)
@pytest.mark.parametrize(
    "retries",
    [1, Retry(3), Retry(1, allowed_methods=None), Retry(None, connect=0), Retry(True)],  # noqa: FBT003 - urllib3's own
    ids=["one", "three", "any-method", "no-limit", "true"],
)
def test_a_session_that_could_send_twice_is_refused(retries: int | Retry) -> None:
    with requests.Session() as session:
        session.trust_env = False
        session.mount("http://", HTTPAdapter(max_retries=retries))
        with pytest.raises(RetryingSession, match="send a request again"):
            refuse_retrying(session)


@fault(241)
def test_a_session_that_trusts_the_environment_is_refused() -> None:
    with requests.Session() as session, pytest.raises(RetryingSession, match="environment"):
        refuse_retrying(session)


@fault(241)
def test_a_plain_session_is_accepted() -> None:
    with requests.Session() as session:
        session.trust_env = False
        refuse_retrying(session)


@fault(241)
def test_an_adapter_of_an_unknown_kind_is_refused() -> None:
    with requests.Session() as session:
        session.trust_env = False
        session.mount("https://", UnknownAdapter())
        with pytest.raises(RetryingSession, match="unknown kind"):
            refuse_retrying(session)


@fault(240)
def test_a_busy_payments_service_that_asks_for_a_retry_gets_none(
    client: HttpPayments, payments: Payments
) -> None:
    payments.mode = "503"

    assert client.refund("A1", 500, send_within_seconds=5.0) == Unknown(
        "HTTP 503", evidence='{"detail": "unavailable"}'
    )
    assert payments.request_count == 1
