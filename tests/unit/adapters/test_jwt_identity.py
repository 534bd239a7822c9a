"""Which tokens name somebody, and that nothing else does."""

import base64
import hashlib
import hmac
import json
import math
import time
from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hypothesis import given
from hypothesis import strategies as st

from refund_agent.adapters.jwks import Jwks
from refund_agent.adapters.jwt_identity import JwtIdentities, TokenRules
from refund_agent.identity import Customer, Staff
from tests.unit.adapters.signing import (
    AUDIENCE,
    EC_KEY,
    ISSUER,
    OTHER_SECRET,
    RSA_KEY,
    SECRET,
    claims,
    jwks,
    public_jwk,
    sign,
)

RULES = TokenRules(ISSUER, AUDIENCE, 3600)
BY_SECRET = JwtIdentities(RULES, secrets=[("k1", SECRET)])
BY_KEYS = JwtIdentities(
    RULES,
    secrets=[("k1", SECRET)],
    public_keys=Jwks(lambda: jwks(public_jwk(RSA_KEY, "r1"), public_jwk(EC_KEY, "e1"))),
)
ALICE = Customer("customer-17")
NOW = int(time.time())  # noqa: TID251 - the time at which the tokens below are made


@pytest.fixture(autouse=True, scope="module")
def the_clock_stands_still() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


def segment(value: object) -> str:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(body).rstrip(b"=").decode()


def hand_made(header: dict[str, Any], secret: bytes, **changes: Any) -> str:
    """Sign with HMAC whatever the header says, as an attacker can."""
    signed = f"{segment(header)}.{segment(claims(**changes))}"
    return f"{signed}.{segment(hmac.digest(secret, signed.encode(), hashlib.sha256))}"


# --- Good tokens ----------------------------------------------------------------------------------


GOOD = [
    sign(),
    sign(RSA_KEY, "RS256", kid="r1"),
    sign(EC_KEY, "ES256", kid="e1"),
    sign(role="customer"),
    sign(aud=[AUDIENCE, "another"]),
    sign(iat=...),
    sign(exp=NOW - 20),  # within the leeway
    sign(nbf=NOW + 20),
]


@pytest.mark.parametrize("token", GOOD, ids=range(len(GOOD)))
def test_a_good_token_names_its_customer(token: str) -> None:
    assert BY_KEYS.verify(token) == ALICE


@pytest.mark.parametrize(("role", "may_write"), [("staff", True), ("staff:read", False)])
def test_a_role_makes_staff(role: str, *, may_write: bool) -> None:
    assert BY_SECRET.verify(sign(role=role, name="Dana")) == Staff("customer-17", "Dana", may_write=may_write)


@pytest.mark.parametrize("name", [..., "", " ", "\x00", "x" * 129, 7, None, ["Dana"]])
def test_staff_without_a_usable_name_are_shown_by_their_id(name: Any) -> None:
    assert BY_SECRET.verify(sign(role="staff", name=name)) == Staff(
        "customer-17", "customer-17", may_write=True
    )


# --- Forged, late and foreign tokens --------------------------------------------------------------


CLAIMS: list[dict[str, Any]] = [
    {"exp": NOW - 60},
    {"exp": ...},
    {"exp": None},
    {"exp": "soon"},
    {"exp": str(NOW + 300)},
    {"exp": True},
    {"exp": math.inf},
    {"exp": math.nan},
    {"exp": 10**400},
    {"exp": NOW + 3700},
    {"exp": NOW + 3000, "iat": NOW - 1000},
    {"exp": NOW + 10 * 365 * 86_400},
    {"iat": "now"},
    {"iat": math.nan},
    {"iat": NOW + 600, "exp": NOW + 900},
    {"nbf": NOW + 600},
    {"iss": "https://other.example"},
    {"iss": ISSUER + "/"},
    {"iss": [ISSUER]},
    {"iss": ...},
    {"iss": ""},
    {"aud": "another"},
    {"aud": []},
    {"aud": AUDIENCE.upper()},
    {"aud": ...},
    {"aud": {"refund-agent": 1}},
    {"sub": ...},
    {"sub": ""},
    {"sub": "   "},
    {"sub": "a\nb"},
    {"sub": "a\x00b"},
    {"sub": "\u202eevil"},
    {"sub": "x" * 129},
    {"sub": 17},
    {"sub": None},
    {"sub": ["customer-17"]},
    {"role": "admin"},
    {"role": "STAFF"},
    {"role": "staff:write"},
    {"role": None},
    {"role": ["staff"]},
    {"role": {"staff": True}},
]


@pytest.mark.fault(44, 45)
@pytest.mark.parametrize("changes", CLAIMS, ids=range(len(CLAIMS)))
def test_a_token_that_says_something_else_names_nobody(changes: dict[str, Any]) -> None:
    token = hand_made({"alg": "HS256", "kid": "k1"}, SECRET.encode(), **changes)

    assert BY_SECRET.verify(token) is None


def test_the_longest_id_is_128_characters() -> None:
    assert BY_SECRET.verify(sign(sub="ü" * 128)) == Customer("ü" * 128)


RSA_PEM = RSA_KEY.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)
RSA_DER = RSA_KEY.public_key().public_bytes(
    serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
)


FORGED = [
    # no algorithm
    f"{segment({'alg': 'none', 'kid': 'k1'})}.{segment(claims())}.",
    f"{segment({'alg': 'None', 'kid': 'r1'})}.{segment(claims())}.",
    f"{segment({'alg': 'none'})}.{segment(claims())}.",
    f"{segment({'kid': 'k1'})}.{segment(claims())}.",
    # a public key taken for a secret
    hand_made({"alg": "HS256", "kid": "r1"}, RSA_PEM),
    hand_made({"alg": "HS256", "kid": "r1"}, RSA_DER),
    hand_made({"alg": "HS256"}, RSA_PEM),
    hand_made({"alg": "HS256", "kid": "e1"}, json.dumps(public_jwk(EC_KEY, "e1")).encode()),
    # another algorithm than the key's
    hand_made({"alg": "RS256", "kid": "k1"}, SECRET.encode()),
    sign(SECRET, "HS512"),
    sign(RSA_KEY, "RS512", kid="r1"),
    sign(RSA_KEY, "PS256", kid="r1"),
    sign(RSA_KEY, "RS256", kid="k1"),
    sign(RSA_KEY, "RS256", kid="e1"),
    sign(EC_KEY, "ES256", kid="r1"),
    # another tenant's key, or one that the token brings itself
    sign(OTHER_SECRET),
    sign(rsa.generate_private_key(public_exponent=65537, key_size=2048), "RS256", kid="r1"),
    sign(ec.generate_private_key(ec.SECP256R1()), "ES256", kid="e1"),
    hand_made(
        {"alg": "HS256", "kid": "k9", "jwk": {"kty": "oct", "k": segment(b"evil"), "kid": "k9"}}, b"evil"
    ),
    hand_made({"alg": "HS256", "jku": "https://evil.example/jwks", "kid": "k9"}, b"evil"),
    hand_made({"alg": "HS256", "kid": "../../dev/null"}, b""),
    hand_made({"alg": "HS256", "kid": ["k1"]}, SECRET.encode()),
    hand_made({"alg": "HS256", "kid": 1}, SECRET.encode()),
    hand_made({"alg": "HS256", "kid": "k1", "crit": ["exp"], "exp": 1}, SECRET.encode()),
    hand_made({"alg": "HS256", "kid": "k1", "b64": False, "crit": ["b64"]}, SECRET.encode()),
    # cut and mixed
    sign()[:-1],
    sign() + "A",
    sign().rsplit(".", 1)[0] + ".",
    sign() + "." + sign(),
    "",
    ".",
    "..",
    "a.b.c",
    "é" * 30,
    "x" * 100_000,
    sign(padding="x" * 10_000),
]


@pytest.mark.fault(45)
@pytest.mark.parametrize("token", FORGED, ids=range(len(FORGED)))
def test_a_forged_token_names_nobody(token: str) -> None:
    assert BY_KEYS.verify(token) is None


@given(st.text(max_size=300))
def test_no_text_is_a_token_by_chance(text: str) -> None:
    assert BY_KEYS.verify(text) is None
    assert BY_SECRET.verify(text) is None


@given(st.integers(0, 400), st.characters(codec="ascii"))
def test_a_token_with_one_character_changed_names_nobody(place: int, other: str) -> None:
    token = sign()
    place %= len(token)
    changed = token[:place] + other + token[place + 1 :]
    named = BY_SECRET.verify(changed)

    # The last character of a Base64 piece carries bits that count for nothing.
    assert named is None or changed == token or place == len(token) - 1


# --- Secrets replaced -----------------------------------------------------------------------------


@pytest.mark.fault(51)
def test_while_a_secret_is_replaced_both_are_taken() -> None:
    both = JwtIdentities(RULES, secrets=[("k1", SECRET), ("k2", OTHER_SECRET)])

    assert both.verify(sign(SECRET, kid="k1")) == ALICE
    assert both.verify(sign(OTHER_SECRET, kid="k2")) == ALICE
    assert both.verify(sign(OTHER_SECRET, kid="k1")) is None


@pytest.mark.fault(51)
def test_afterwards_the_old_one_is_not() -> None:
    assert JwtIdentities(RULES, secrets=[("k2", OTHER_SECRET)]).verify(sign(SECRET, kid="k1")) is None


def test_a_token_without_a_key_id_is_read_only_with_exactly_one_secret() -> None:
    token = sign(kid=None)

    assert BY_SECRET.verify(token) == ALICE
    assert JwtIdentities(RULES, secrets=[("k1", SECRET), ("k2", OTHER_SECRET)]).verify(token) is None
    assert BY_KEYS.verify(token) is None
    assert JwtIdentities(RULES).verify(token) is None


@pytest.mark.filterwarnings("ignore::jwt.InsecureKeyLengthWarning")
def test_a_secret_that_could_be_guessed_verifies_nothing() -> None:
    assert JwtIdentities(RULES, secrets=[("k1", "short")]).verify(sign("short")) is None


@pytest.mark.parametrize("rules", [TokenRules("", AUDIENCE, 60), TokenRules(ISSUER, "", 60)])
def test_without_issuer_or_audience_nothing_is_built(rules: TokenRules) -> None:
    with pytest.raises(ValueError, match="issuer and an audience"):
        JwtIdentities(rules, secrets=[("k1", SECRET)])


def test_a_key_is_not_in_what_it_prints() -> None:
    assert SECRET not in repr(vars(BY_SECRET))
