"""The host site's public keys: a JWKS (RFC 7517) in a file or at a URL, kept and looked at anew when needed.

A URL is asked behind a hard wall of two seconds, by one thread at a time, and at most once a minute (every
five seconds until keys were first read). While it is away the keys known so far go on serving.
"""

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias, cast
from urllib.parse import urlsplit

import httpx
import jwt
import structlog
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from refund_agent import strict_json
from refund_agent.adapters.httpx_wall import WalledTransport
from refund_agent.adapters.jwt_identity import VerifyingKey
from refund_agent.adapters.wall import outside_call, tls_context

log = structlog.stdlib.get_logger(__name__)

WALL_SECONDS: Final = 2.0
PAUSE_SECONDS: Final = 60.0
"""Between two looks for a `kid` that is not known."""
EMPTY_PAUSE_SECONDS: Final = 5.0
"""The same as long as no key was ever read: nobody could sign in."""
FRESH_SECONDS: Final = 600.0
"""After this, keys are looked at anew although every `kid` is known: one may have been withdrawn."""
MAX_BYTES: Final = 256 * 1024
MAX_KEYS: Final = 100
MIN_RSA_BITS: Final = 2048

Fetch: TypeAlias = Callable[[], bytes]
_Object: TypeAlias = dict[str, Any]


class Jwks:
    """Implements the port `KeySource`; safe to share among threads."""

    def __init__(self, fetch: Fetch, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._fetch = fetch
        self._monotonic = monotonic
        self._keys: Mapping[str, VerifyingKey] = {}
        self._looked_at: float | None = None
        self._looking = threading.Lock()

    def find(self, kid: str) -> VerifyingKey | None:
        """Return the key; for one that is not known, look anew, which takes two seconds at most."""
        known = self._keys.get(kid)
        pause = FRESH_SECONDS if known else PAUSE_SECONDS if self._keys else EMPTY_PAUSE_SECONDS
        if not self._is_due(pause):
            return known
        # Who has a known key does not wait for another thread's look; who has none waits for its end.
        if self._looking.acquire(timeout=0 if known else WALL_SECONDS):
            try:
                if self._is_due(pause):
                    self._look()
            finally:
                self._looking.release()
        return self._keys.get(kid)

    def _is_due(self, pause: float) -> bool:
        return self._looked_at is None or self._monotonic() - self._looked_at >= pause

    def _look(self) -> None:
        try:
            self._keys = read_keys(self._fetch())
        except Exception as error:  # noqa: BLE001 - whatever it is, the keys known so far go on serving
            log.warning("jwks_not_read", error=type(error).__name__, keys_known=len(self._keys))
        self._looked_at = self._monotonic()


def fetch_from(place: str, *, ca_file: str | None = None) -> Fetch:
    """Return what reads the JWKS from a file's path or an http(s) URL."""
    if urlsplit(place).scheme not in {"http", "https"}:
        return Path(place).read_bytes
    tls = tls_context(ca_file) if place.lower().startswith("https:") else None
    headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "refund-agent"}

    def fetch() -> bytes:
        # A connection of one call's own: the next look is seconds away at the least, and mostly minutes.
        transport = WalledTransport(connections=1, tls=tls)
        with (
            httpx.Client(
                transport=transport, trust_env=False, follow_redirects=False, headers=headers
            ) as client,
            outside_call(WALL_SECONDS),
        ):
            answer = client.get(place)
        answer.raise_for_status()
        return answer.content

    return fetch


def read_keys(body: bytes) -> dict[str, VerifyingKey]:
    """Read the keys that can verify; those of another kind, or too weak, are ignored.

    Raises `NotJson` or `ValueError` when it is no JWKS at all.
    """
    document = strict_json.parse(body, max_bytes=MAX_BYTES)
    listed = cast("_Object", document).get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("not a JWKS")  # noqa: TRY004 - its content is wrong, not its type in Python
    found: dict[str, VerifyingKey] = {}
    for listing in cast("list[object]", listed)[:MAX_KEYS]:
        entry = cast("_Object", listing) if isinstance(listing, dict) else {}
        kid, key = entry.get("kid"), _read_key(entry)
        if isinstance(kid, str) and key is not None:
            found.setdefault(kid, key)
    return found


def _read_key(entry: _Object) -> VerifyingKey | None:
    algorithm = {"RSA": "RS256", "EC": "ES256"}.get(str(entry.get("kty")))
    # A shared secret (`oct`) has no place in a public document, and an encryption key signs nothing.
    if algorithm is None or entry.get("use", "sig") != "sig" or entry.get("alg", algorithm) != algorithm:
        return None
    try:
        key = jwt.PyJWK(entry, algorithm=algorithm).key
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    if isinstance(key, RSAPublicKey) and key.key_size >= MIN_RSA_BITS:
        return VerifyingKey("RS256", key)
    if isinstance(key, EllipticCurvePublicKey) and key.curve.name == "secp256r1":
        return VerifyingKey("ES256", key)
    return None
