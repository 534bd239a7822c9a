"""Payments over TLS: whom we trust, and what a flaw proves."""

import socket

import pytest
from structlog.testing import capture_logs

from refund_agent.adapters.http_payments import HttpPayments
from refund_agent.outcomes import NotSent, Paid, Unknown
from tests.unit.adapters.certificates import Certificate
from tests.unit.adapters.conftest import TOKEN
from tests.unit.adapters.hurry import RECEIPT, hurried_to, within_the_wall
from tests.unit.adapters.wires import listen, over_tls, read_request, until_gone

fault = pytest.mark.fault


def pay(wire: socket.socket) -> None:
    read_request(wire)
    wire.sendall(RECEIPT)


def test_a_trusted_certificate_lets_the_refund_through(certificate: Certificate) -> None:
    with listen(over_tls(certificate.server_context(), pay)) as peer:
        client = HttpPayments(f"https://127.0.0.1:{peer.port}", TOKEN, 5.0, ca_file=str(certificate.file))
        assert client.refund("A1", 500, send_within_seconds=5.0) == Paid("rf_1", "succeeded", 500)


@fault(198, "4.0:not-sent")
@pytest.mark.parametrize("flaw", ["unknown authority", "expired", "another name"])
def test_a_bad_certificate_means_not_sent_and_alarms(
    certificate: Certificate, expired_certificate: Certificate, flaw: str
) -> None:
    shown = expired_certificate if flaw == "expired" else certificate
    trusted = None if flaw == "unknown authority" else str(shown.file)
    host = "localhost" if flaw == "another name" else "127.0.0.1"
    received: list[bytes] = []

    def keep(wire: socket.socket) -> None:
        received.append(read_request(wire))

    with listen(over_tls(shown.server_context(), keep)) as peer, capture_logs() as logs:
        url = f"https://{host}:{peer.port}"
        answer = HttpPayments(url, TOKEN, 5.0, ca_file=trusted).refund("A1", 500, send_within_seconds=5.0)

    assert answer == NotSent("SSLError while connected")
    assert [(entry["event"], entry["log_level"]) for entry in logs] == [("payments_not_trusted", "error")]
    assert not any(received)


@fault("4.0:not-sent")
def test_a_handshake_in_drips_means_not_sent_within_the_wall() -> None:
    # The start of a handshake record of 16 kB, whose rest comes a byte at a time.
    def drip(wire: socket.socket) -> None:
        wire.sendall(b"\x16\x03\x03\x40\x00")
        until_gone(wire, every_seconds=0.01, send=b"\x02")

    with listen(drip) as peer, within_the_wall():
        answer = hurried_to(peer.port, scheme="https").refund("A1", 500, send_within_seconds=5.0)

    assert isinstance(answer, NotSent)


@fault(206)
def test_the_wall_holds_under_tls(certificate: Certificate) -> None:
    def drip(wire: socket.socket) -> None:
        read_request(wire)
        until_gone(wire, every_seconds=0.01, send=b"H")

    with listen(over_tls(certificate.server_context(), drip)) as peer, within_the_wall():
        answer = hurried_to(peer.port, scheme="https", ca_file=str(certificate.file)).refund(
            "A1", 500, send_within_seconds=5.0
        )

    assert isinstance(answer, Unknown)
    assert peer.connections == 1
