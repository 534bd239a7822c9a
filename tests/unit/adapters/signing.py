"""A host site that signs tokens, well or badly."""

import json
import time
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

ISSUER = "https://shop.example"
AUDIENCE = "refund-agent"
SECRET = "0123456789-0123456789-0123456789-0123456789-0123456789-0123456789"
OTHER_SECRET = "abcdefghij-abcdefghij-abcdefghij-01"

RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())


def claims(**changes: Any) -> dict[str, Any]:
    """Give the claims of a good token, except for these; `...` leaves one out."""
    now = int(time.time())  # noqa: TID251 - the tokens are checked against the real clock
    good = {"iss": ISSUER, "aud": AUDIENCE, "sub": "customer-17", "iat": now, "exp": now + 300}
    return {name: value for name, value in {**good, **changes}.items() if value is not ...}


def sign(key: Any = SECRET, algorithm: str = "HS256", *, kid: str | None = "k1", **changes: Any) -> str:
    """Sign a token with these changes to its claims."""
    headers = {} if kid is None else {"kid": kid}
    return jwt.encode(claims(**changes), key, algorithm=algorithm, headers=headers)


def public_jwk(key: RSAPrivateKey | EllipticCurvePrivateKey, kid: str, **changes: Any) -> dict[str, Any]:
    """Write a public key as the host site publishes it."""
    public: Any = key.public_key()
    write: Any = RSAAlgorithm.to_jwk if isinstance(key, RSAPrivateKey) else ECAlgorithm.to_jwk
    written: dict[str, Any] = json.loads(write(public))
    return written | {"kid": kid, "use": "sig"} | changes


def jwks(*keys: dict[str, Any]) -> bytes:
    return json.dumps({"keys": keys}).encode()
