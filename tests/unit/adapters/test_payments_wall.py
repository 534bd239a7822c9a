"""The wall around a payments call, and the proof that nothing was sent."""

import socket
import threading

import pytest

from refund_agent.adapters.http_payments import HttpPayments
from refund_agent.outcomes import NotSent, Paid, Unknown
from sandbox.payments import Payments
from tests.unit.adapters.conftest import TOKEN
from tests.unit.adapters.hurry import RECEIPT, WALL_SECONDS, hurried_to, within_the_wall
from tests.unit.adapters.wires import full_backlog, listen, read_request, reset_at_once, until_gone

fault = pytest.mark.fault
contract = pytest.mark.contract


class HangingResolver:
    """A resolver that answers nobody until it is released."""

    def __init__(self) -> None:
        self.released = threading.Event()

    def __call__(self, *_: object, flags: int = 0, **__: object) -> list[object]:
        if not flags & socket.AI_NUMERICHOST:
            self.released.wait(5)
        raise socket.gaierror


LONG_ORDER_ID = "A" * 6_000_000
"""More than the sending side's buffer takes: the request is still on its way."""


# --- Too late to ask: not sent --------------------------------------------------------------------


def test_a_request_that_cannot_begin_to_leave_in_time_is_not_sent(
    client: HttpPayments, payments: Payments
) -> None:
    assert client.refund("A1", 500, send_within_seconds=0.0) == NotSent("ConnectionError while connected")

    assert payments.request_count == 0
    assert payments.moved == []


def test_a_request_that_began_to_leave_in_time_is_sent_to_its_end(payments_url: str) -> None:
    answer = HttpPayments(payments_url, TOKEN, 5.0).refund(LONG_ORDER_ID, 500, send_within_seconds=0.5)

    assert not isinstance(answer, NotSent)


# --- Asked, and no answer in time: unknown --------------------------------------------------------

SILENCES = [
    pytest.param("accept-then-hang", marks=fault(203, "4.0:answer-lost")),
    pytest.param("hang", marks=fault("4.0:answer-lost")),
    pytest.param("slow", marks=fault(203, "4.0:answer-lost")),
    pytest.param("drip-headers", marks=fault(206, "4.0:answer-lost")),
    pytest.param("drip-body", marks=fault("4.0:answer-lost")),
    pytest.param("continue-then-nothing", marks=fault("4.0:1xx")),
]


@contract("C68")
@pytest.mark.parametrize("mode", SILENCES)
def test_an_answer_that_does_not_end_within_the_wall_means_unknown(
    hurried: HttpPayments, payments: Payments, mode: str
) -> None:
    payments.mode = mode
    payments.pace.drip_seconds = 0.1

    with within_the_wall():
        answer = hurried.refund("A1", 500, send_within_seconds=5.0)

    assert isinstance(answer, Unknown)
    assert answer.review == (mode == "drip-body")
    assert payments.request_count == 1


@fault(204)
def test_money_that_moves_after_the_wall_leaves_the_answer_unknown(
    hurried: HttpPayments, payments: Payments
) -> None:
    payments.mode = "accept-late"
    payments.pace.late_seconds = 0.05

    assert isinstance(hurried.refund("A1", 500, send_within_seconds=5.0), Unknown)

    assert payments.wait_for_moved(1)
    assert payments.request_count == 1


@fault("4.0:1xx")
@pytest.mark.parametrize("interim", ["100 Continue", "102 Processing", "103 Early Hints"])
def test_interim_answers_without_end_mean_unknown(interim: str) -> None:
    def talk(wire: socket.socket) -> None:
        until_gone(wire, every_seconds=0.01, send=f"HTTP/1.1 {interim}\r\n\r\n".encode())

    with listen(talk) as peer, within_the_wall():
        answer = hurried_to(peer.port).refund("A1", 500, send_within_seconds=5.0)

    assert isinstance(answer, Unknown)
    assert peer.connections == 1


def test_a_receipt_on_a_connection_that_stays_open_is_not_taken_for_whole() -> None:
    def half_said(wire: socket.socket) -> None:
        read_request(wire)
        wire.sendall(RECEIPT)
        until_gone(wire, every_seconds=5)

    with listen(half_said) as peer, within_the_wall():
        answer = hurried_to(peer.port).refund("A1", 500, send_within_seconds=5.0)

    assert isinstance(answer, Unknown)
    assert answer.review
    assert "rf_1" in answer.evidence


def test_a_receipt_that_ends_with_the_connection_is_whole_by_itself() -> None:
    def said(wire: socket.socket) -> None:
        read_request(wire)
        wire.sendall(RECEIPT)

    with listen(said) as peer:
        assert hurried_to(peer.port).refund("A1", 500, send_within_seconds=5.0) == Paid(
            "rf_1", "succeeded", 500
        )


@fault("4.0:write-error")
def test_a_connection_that_breaks_while_the_request_is_written_means_unknown() -> None:
    def read_a_little(wire: socket.socket) -> None:
        wire.recv(10)
        reset_at_once(wire)

    with listen(read_a_little) as peer:
        answer = HttpPayments(f"http://127.0.0.1:{peer.port}", TOKEN, 5.0).refund(
            LONG_ORDER_ID, 500, send_within_seconds=5.0
        )

    assert isinstance(answer, Unknown)
    assert peer.connections == 1


@fault("4.0:write-error")
def test_a_peer_that_reads_nothing_is_left_at_the_wall() -> None:
    over = threading.Event()

    with listen(lambda _: over.wait(5)) as peer:
        with within_the_wall():
            answer = hurried_to(peer.port).refund(LONG_ORDER_ID, 500, send_within_seconds=5.0)
        over.set()

    assert isinstance(answer, Unknown)


def test_a_reset_on_accept_is_not_sent_only_if_the_connection_never_stood() -> None:
    with listen(reset_at_once) as peer:
        endings = [hurried_to(peer.port).refund("A1", 500, send_within_seconds=5.0) for _ in range(30)]

    for ending in endings:
        assert isinstance(ending, Unknown) or ending == NotSent("ConnectionError while connecting")
    assert peer.connections == len(endings)


# --- Never connected: not sent --------------------------------------------------------------------


@contract("C68")
@fault(196, "4.0:not-sent")
def test_a_refused_connection_means_not_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    assert hurried_to(port).refund("A1", 500, send_within_seconds=5.0) == NotSent(
        "ConnectionError while connecting"
    )


@fault(197, "4.0:not-sent")
def test_a_connection_that_is_never_accepted_means_not_sent_within_the_wall() -> None:
    with full_backlog() as port, within_the_wall():
        answer = hurried_to(port).refund("A1", 500, send_within_seconds=5.0)

    assert answer == NotSent("ConnectTimeout while connecting")


@fault(195, "4.0:not-sent")
def test_a_name_that_does_not_exist_means_not_sent() -> None:
    with within_the_wall():
        answer = HttpPayments("http://payments.invalid", TOKEN, WALL_SECONDS).refund(
            "A1", 500, send_within_seconds=5.0
        )

    assert isinstance(answer, NotSent)
    assert answer.reason.endswith("while resolving")


@fault(195, "4.0:not-sent")
def test_a_resolver_that_hangs_is_left_at_the_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    resolver = HangingResolver()
    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    try:
        with within_the_wall():
            answer = HttpPayments("http://payments.test", TOKEN, WALL_SECONDS).refund(
                "A1", 500, send_within_seconds=5.0
            )
    finally:
        resolver.released.set()

    assert isinstance(answer, NotSent)
    assert answer.reason.endswith("while resolving")


# --- Nothing to send, or nowhere -------------------------------------------------------------------


@fault(247, "4.0:not-sent")
@pytest.mark.parametrize(
    ("order_id", "amount_cents"),
    [("\ud800", 500), ("A1", float("nan")), ("A1", 10**5000)],
    ids=["surrogate", "nan", "5000-digits"],
)
def test_what_cannot_be_encoded_is_not_sent(
    client: HttpPayments, payments: Payments, order_id: str, amount_cents: int
) -> None:
    assert isinstance(client.refund(order_id, amount_cents, send_within_seconds=5.0), NotSent)
    assert payments.request_count == 0


@pytest.mark.parametrize(
    "url", ["", "payments.internal", "ftp://127.0.0.1", "http://", "http://a b", "http://a:b"]
)
def test_an_address_that_is_none_sends_nothing(url: str) -> None:
    assert isinstance(HttpPayments(url, TOKEN, 1.0).refund("A1", 500, send_within_seconds=5.0), NotSent)


def test_a_token_that_no_header_can_carry_sends_nothing(payments_url: str, payments: Payments) -> None:
    assert isinstance(
        HttpPayments(payments_url, "a\r\nb: c", 1.0).refund("A1", 500, send_within_seconds=5.0), NotSent
    )
    assert isinstance(
        HttpPayments(payments_url, "☂", 1.0).refund("A1", 500, send_within_seconds=5.0), NotSent
    )
    assert payments.request_count == 0
