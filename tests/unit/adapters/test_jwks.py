"""The host site's public keys: which are taken, when they are looked at anew, and how long one waits."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from refund_agent.adapters.jwks import (
    EMPTY_PAUSE_SECONDS,
    FRESH_SECONDS,
    PAUSE_SECONDS,
    Jwks,
    fetch_from,
    read_keys,
)
from refund_agent.strict_json import NotJson
from sandbox.answers import Reply
from sandbox.http import serve
from tests.unit.adapters.certificates import Certificate
from tests.unit.adapters.signing import EC_KEY, RSA_KEY, jwks, public_jwk
from tests.unit.adapters.wires import OneAnswer, full_backlog, listen, until_gone

GOOD = jwks(public_jwk(RSA_KEY, "r1"))
SHORT_KEY = rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505 - too short on purpose
BOTH = jwks(public_jwk(RSA_KEY, "r1"), public_jwk(EC_KEY, "e1"))


class Site:
    """A host site that counts how often it is asked, on a clock of its own."""

    def __init__(self, body: bytes | Exception = GOOD) -> None:
        self.body = body
        self.asked = 0
        self.now = 1000.0
        self.before: Callable[[], object] = lambda: None
        self.keys = Jwks(self.fetch, monotonic=lambda: self.now)

    def fetch(self) -> bytes:
        self.asked += 1
        self.before()
        if isinstance(self.body, Exception):
            raise self.body
        return self.body


# --- Which keys are taken -------------------------------------------------------------------------


def test_rsa_and_p256_keys_are_taken_each_with_its_algorithm() -> None:
    keys = read_keys(BOTH)

    assert {kid: key.algorithm for kid, key in keys.items()} == {"r1": "RS256", "e1": "ES256"}


@pytest.mark.fault(45)
@pytest.mark.parametrize(
    "entry",
    [
        {"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTEyMzQ", "kid": "k", "alg": "HS256"},
        public_jwk(RSA_KEY, "k", use="enc"),
        public_jwk(RSA_KEY, "k", alg="HS256"),
        public_jwk(RSA_KEY, "k", alg="none"),
        public_jwk(RSA_KEY, "k", alg="PS256"),
        public_jwk(RSA_KEY, "k", n="!!"),
        public_jwk(SHORT_KEY, "k"),
        public_jwk(ec.generate_private_key(ec.SECP384R1()), "k"),
        public_jwk(EC_KEY, "k", x="AAAA"),
        public_jwk(RSA_KEY, "k") | {"kid": 7},
        public_jwk(RSA_KEY, "k") | {"kid": None},
        {"kty": ["RSA"], "kid": "k"},
        {"kid": "k"},
        {},
        "k",
        None,
    ],
)
def test_another_kind_of_key_is_passed_over(entry: Any) -> None:
    assert read_keys(jwks(entry, public_jwk(RSA_KEY, "r1"))).keys() == {"r1"}


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"keys": {}}', b"<html>", b'{"keys": 1}', b"\xff", b" " * 300_000]
)
def test_what_is_no_jwks_is_refused(body: bytes) -> None:
    with pytest.raises((ValueError, NotJson)):
        read_keys(body)


def test_of_two_keys_with_one_id_the_first_is_taken() -> None:
    keys = read_keys(jwks(public_jwk(RSA_KEY, "k"), public_jwk(EC_KEY, "k")))

    assert keys["k"].algorithm == "RS256"


# --- When they are looked at anew -----------------------------------------------------------------


def test_known_keys_are_kept() -> None:
    site = Site()

    assert all(site.keys.find("r1") for _ in range(50))
    assert site.asked == 1


def test_an_unknown_id_asks_at_most_once_a_minute() -> None:
    site = Site()
    assert site.keys.find("r1")
    for second in range(int(PAUSE_SECONDS) * 3):
        site.now = 1000.0 + second
        assert site.keys.find("e1") is None

    assert site.asked == 3


@pytest.mark.fault(51)
def test_a_new_key_is_found_within_the_minute() -> None:
    site = Site()
    assert site.keys.find("r1")
    site.body = BOTH
    site.now += PAUSE_SECONDS

    assert site.keys.find("e1")


@pytest.mark.fault(51)
def test_a_withdrawn_key_stops_verifying() -> None:
    site = Site()
    assert site.keys.find("r1")
    site.body = jwks(public_jwk(EC_KEY, "e1"))
    site.now += FRESH_SECONDS

    assert site.keys.find("r1") is None


@pytest.mark.parametrize("away", [ConnectionError(), TimeoutError(), b"<html>busy</html>", b'{"keys": 1}'])
def test_known_keys_serve_on_while_the_site_is_away(away: bytes | Exception) -> None:
    site = Site()
    assert site.keys.find("r1")
    site.body = away
    for _ in range(5):
        site.now += FRESH_SECONDS
        assert site.keys.find("r1")

    assert site.asked == 6


def test_a_site_that_was_never_reached_is_asked_again_soon() -> None:
    site = Site(ConnectionError())
    assert site.keys.find("r1") is None
    assert site.keys.find("r1") is None
    site.body = GOOD
    site.now += EMPTY_PAUSE_SECONDS

    assert site.keys.find("r1")
    assert site.asked == 2


def test_many_threads_ask_once() -> None:
    gate, asked = threading.Barrier(8), []

    def fetch() -> bytes:
        asked.append(1)
        return GOOD

    keys = Jwks(fetch)
    found: list[object] = []

    def find() -> None:
        gate.wait(timeout=5)
        found.append(keys.find("r1"))

    threads = [threading.Thread(target=find) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=5)

    assert (len(asked), len(found), None in found) == (1, 8, False)


def test_who_has_a_known_key_does_not_wait_for_another_threads_look() -> None:
    looking, go_on = threading.Event(), threading.Event()
    site = Site()
    assert site.keys.find("r1")

    def hang() -> None:
        looking.set()
        go_on.wait(timeout=5)

    site.before = hang
    site.now += FRESH_SECONDS
    thread = threading.Thread(target=site.keys.find, args=["r1"])
    thread.start()
    assert looking.wait(timeout=5)
    started = time.monotonic()
    assert site.keys.find("r1")
    assert time.monotonic() - started < 1.0
    go_on.set()
    thread.join(timeout=5)


# --- Files and URLs -------------------------------------------------------------------------------


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_bytes(BOTH)

    assert Jwks(fetch_from(str(tmp_path / "keys.json"))).find("e1")
    assert Jwks(fetch_from(str(tmp_path / "none.json"))).find("e1") is None


def test_a_url_is_read() -> None:
    with serve(OneAnswer(Reply(200, GOOD))) as site:
        assert Jwks(fetch_from(f"{site.url}/jwks.json")).find("r1")


@pytest.mark.usefixtures("hostile_environment")
def test_a_url_is_asked_directly_and_without_a_password() -> None:
    app = OneAnswer(Reply(200, GOOD))
    with serve(app) as site:
        assert Jwks(fetch_from(f"{site.url}/jwks.json")).find("r1")

    (request,) = app.requests
    assert "authorization" not in {name.lower() for name in request.headers}


@pytest.mark.parametrize(
    "answer",
    [
        Reply(500, b"{}"),
        Reply(404, GOOD),
        Reply(200, b'{"keys": "none"}'),
    ],
)
def test_an_answer_that_is_not_plain_success_gives_no_key(answer: Reply) -> None:
    with serve(OneAnswer(answer)) as site:
        assert Jwks(fetch_from(f"{site.url}/jwks.json")).find("r1") is None


def test_a_redirect_is_not_followed() -> None:
    with ExitStack() as stack:
        goal = OneAnswer(Reply(200, GOOD))
        there = stack.enter_context(serve(goal))
        here = stack.enter_context(serve(OneAnswer(Reply(302, headers=(("Location", f"{there.url}/x"),)))))
        assert Jwks(fetch_from(f"{here.url}/jwks.json")).find("r1") is None
        assert goal.requests == []


@pytest.fixture
def never_accepted() -> Iterator[int]:
    with full_backlog() as port:
        yield port


def test_a_site_that_never_accepts_costs_two_seconds(never_accepted: int) -> None:
    keys = Jwks(fetch_from(f"http://127.0.0.1:{never_accepted}/jwks.json"))

    assert _seconds(keys) < 2.6


def test_a_site_that_drips_costs_two_seconds() -> None:
    def drip(connection: Any) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        until_gone(connection, every_seconds=0.1, send=b" ")

    with listen(drip) as site:
        assert _seconds(Jwks(fetch_from(f"http://127.0.0.1:{site.port}/jwks.json"))) < 2.6


def _seconds(keys: Jwks) -> float:
    started = time.monotonic()
    assert keys.find("r1") is None
    return time.monotonic() - started


def test_a_certificate_that_nobody_vouches_for_is_not_trusted(certificate: Certificate) -> None:
    talks: list[bytes] = []

    def talk(connection: Any) -> None:
        with certificate.server_context().wrap_socket(connection, server_side=True) as secured:
            talks.append(secured.recv(65536))
            secured.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(GOOD) + GOOD)

    with listen(talk) as site:
        url = f"https://127.0.0.1:{site.port}/jwks.json"
        assert Jwks(fetch_from(url)).find("r1") is None
        assert talks == []
        assert Jwks(fetch_from(url, ca_file=str(certificate.file))).find("r1")
