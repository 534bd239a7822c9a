"""Portal tokens: who may call the routes below `/support/`."""

import hmac
from typing import Final

from flask import Flask, request

from refund_agent.settings import Settings
from web.ids import TURN_ROUTES
from web.kinds import Kind
from web.problems import Problem, Refused

CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="support"'}


def install(app: Flask, settings: Settings) -> None:
    """Require one of the tokens. Without any, everybody may call in development and nobody in production."""
    tokens = tuple(token.encode() for token in settings.portal_tokens)
    if not tokens and settings.app_env == "development":
        return

    def require_token() -> None:
        if request.path.startswith(TURN_ROUTES) and not _is_known(_presented(), tokens):
            detail = "A valid portal token is required. Nothing was read, stored or sent."
            raise Refused(Problem(Kind.TOKEN_REQUIRED, detail, headers=CHALLENGE))

    app.before_request(require_token)


def _presented() -> bytes:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    # WSGI hands a header's bytes over as Latin-1; back to bytes, as non-ASCII text would not compare.
    return token.strip().encode("latin-1", "replace") if scheme.lower() == "bearer" else b""


def _is_known(presented: bytes, tokens: tuple[bytes, ...]) -> bool:
    """Compare with every token, each in constant time, without stopping at the one that fits."""
    return True in [hmac.compare_digest(presented, token) for token in tokens]
