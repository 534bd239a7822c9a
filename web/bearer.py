"""Portal tokens: the key of `/support/refund-chat`, and of its turns.

Several are for rotation. All of them are one portal: nothing remembers which of them a turn came with.
"""

import hmac
from typing import Final

from flask import request

from refund_agent.settings import Settings
from web.kinds import Kind
from web.problems import Problem, Refused

CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="support"'}


class PortalTokens:
    """Whether the present request comes from the portal.

    Without any token set, everybody may call in development and nobody in production.
    """

    def __init__(self, settings: Settings) -> None:
        self._tokens = tuple(token.encode() for token in settings.portal_tokens)
        self.is_open = not self._tokens and settings.app_env == "development"

    def require(self) -> None:
        """Raise `Refused` unless the request carries one of the tokens."""
        if not self.is_open and not self.knows(presented()):
            detail = "A valid portal token is required. Nothing was read, stored or sent."
            raise Refused(Problem(Kind.TOKEN_REQUIRED, detail, headers=CHALLENGE))

    def knows(self, token: bytes) -> bool:
        """Compare with every token, each in constant time, without stopping at the one that fits."""
        return True in [hmac.compare_digest(token, known) for known in self._tokens]


def presented() -> bytes:
    """Return the bearer token of the present request; empty when there is none."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    # WSGI hands a header's bytes over as Latin-1; back to bytes, as non-ASCII text would not compare.
    return token.strip().encode("latin-1", "replace") if scheme.lower() == "bearer" else b""
