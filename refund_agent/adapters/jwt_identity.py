"""Tokens as the host site signs them: a JWT that names the customer (RFC 7519).

The algorithm is the key's, never the token's: a shared secret verifies HS256 and nothing else, an RSA key
RS256, a P-256 key ES256. So neither `none` nor a public key used as a secret can pass. Keys come from the
settings and from one JWKS; what a token's own header offers (`jku`, `jwk`, `x5u`) is not looked at.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias

import jwt
import structlog
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from refund_agent.identity import Customer, Identity, Proof, Staff, is_sane_id

log = structlog.stdlib.get_logger(__name__)

MAX_TOKEN_LENGTH: Final = 8192
LEEWAY_SECONDS: Final = 30

Algorithm: TypeAlias = Literal["HS256", "RS256", "ES256"]

_OPTIONS: Final[Any] = {
    "require": ["exp", "iss", "aud", "sub"],
    "enforce_minimum_key_length": True,
}


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """A key with the one algorithm it verifies."""

    algorithm: Algorithm
    key: bytes | RSAPublicKey | EllipticCurvePublicKey = field(repr=False)


class KeySource(Protocol):
    """Public keys by their `kid`."""

    def find(self, kid: str) -> VerifyingKey | None:
        """Return the key, or None."""
        ...


@dataclass(frozen=True, slots=True)
class TokenRules:
    """What every token must say. `max_seconds` is the longest life, from `iat` (or from now) to `exp`."""

    issuer: str
    audience: str
    max_seconds: int


class JwtIdentities:
    """Implements the port `Identities`.

    `secrets` are `(kid, secret)`, several while one replaces another. A token without a `kid` is read only
    if there is exactly one secret and no other key.
    """

    def __init__(
        self,
        rules: TokenRules,
        *,
        secrets: Sequence[tuple[str, str]] = (),
        public_keys: KeySource | None = None,
    ) -> None:
        if not (rules.issuer and rules.audience):
            raise ValueError("tokens are checked for an issuer and an audience; both must be set")
        self._rules = rules
        self._secrets = {kid: VerifyingKey("HS256", secret.encode()) for kid, secret in secrets}
        self._public_keys = public_keys

    def verify(self, token: str) -> Identity | None:
        """Return whom a token names; None for whatever is wrong with it, without saying what."""
        proof = self.prove(token)
        return None if proof is None else proof.identity

    def prove(self, token: str) -> Proof | None:
        """Return the same with the time left, which the leeway lets be a little below nothing."""
        if not token or len(token) > MAX_TOKEN_LENGTH or not token.isascii():
            return None
        try:
            return self._prove(token)
        except Exception as error:  # noqa: BLE001 - whatever a stranger's token does to the library, it is no token
            log.debug("token_refused", error=type(error).__name__)
            return None

    def _prove(self, token: str) -> Proof | None:
        header = jwt.get_unverified_header(token)
        key = self._find_key(header)
        if key is None or header.get("alg") != key.algorithm or "crit" in header:
            return None
        claims = jwt.decode(
            token,
            key=key.key,
            algorithms=[key.algorithm],
            issuer=self._rules.issuer,
            audience=self._rules.audience,
            leeway=LEEWAY_SECONDS,
            options=_OPTIONS,
        )
        left_seconds = self._left_seconds(claims)
        identity = None if left_seconds is None else _read(claims)
        return None if left_seconds is None or identity is None else Proof(identity, left_seconds)

    def _find_key(self, header: Mapping[str, object]) -> VerifyingKey | None:
        if "kid" not in header:
            alone = len(self._secrets) == 1 and self._public_keys is None
            return next(iter(self._secrets.values())) if alone else None
        kid = str(header["kid"])
        if known := self._secrets.get(kid):
            return known
        return self._public_keys.find(kid) if self._public_keys else None

    def _left_seconds(self, claims: Mapping[str, object]) -> int | None:
        """Return how long the token has left; None when it was made to last longer than it may."""
        ends_at = _as_time(claims["exp"])
        if ends_at is None:
            return None
        left = ends_at - time.time()  # noqa: TID251 - a token's times are the wall clock's
        if left > self._rules.max_seconds + LEEWAY_SECONDS:
            return None
        if "iat" in claims:
            issued_at = _as_time(claims["iat"])
            if issued_at is None or ends_at - issued_at > self._rules.max_seconds:
                return None
        return math.floor(left)


def _as_time(value: object) -> float | None:
    """Return a NumericDate; the library would also take a string of digits and True."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _read(claims: Mapping[str, object]) -> Identity | None:
    """Read who it is from verified claims."""
    subject, role = claims["sub"], claims.get("role", "customer")
    if not isinstance(subject, str) or not is_sane_id(subject):
        return None
    if role == "customer":
        return Customer(subject)
    if role in {"staff", "staff:read"}:
        name = claims.get("name")
        shown = name if isinstance(name, str) and is_sane_id(name) else subject
        return Staff(subject, shown, may_write=role == "staff")
    return None
