"""CORS for the customer's part of the API, for portals that embed the chat: exact origins, never `*`.

Who is calling is in the token alone: an origin that is let in here may ask, and is nobody without one.
"""

import re
from collections.abc import Collection
from typing import Final

from flask import Flask, Response, request

UUID: Final = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
ROUTES: Final = (
    ("POST", re.compile(r"/support/chat")),
    ("GET", re.compile(r"/support/orders")),
    ("GET", re.compile(rf"/support/conversations(?:/{UUID})?")),
    ("GET", re.compile(rf"/support/turns/{UUID}(?:/events)?")),
)
"""What the chat asks. Everything else, staff's routes included, stays with its own origin."""

PREFLIGHT: Final = {
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, Last-Event-ID",
    "Access-Control-Max-Age": "600",
}
EXPOSED: Final = "X-Turn-Id, X-Conversation-Id, X-Request-Id, Retry-After, Idempotent-Replayed"


def install(app: Flask, origins: Collection[str]) -> None:
    """Answer the preflights of these origins, and let their pages read what they are answered."""

    def preflight() -> Response | None:
        method = _method()
        if request.method != "OPTIONS" or request.origin not in origins or method is None:
            return None
        if request.headers.get("Access-Control-Request-Method") != method:
            return None
        return Response(status=204, headers={**PREFLIGHT, "Access-Control-Allow-Methods": method})

    def allow(response: Response) -> Response:
        if _method() is None:
            return response
        response.vary.add("Origin")  # also for those that are not let in, lest a cache mix them up
        if request.origin in origins:
            response.headers["Access-Control-Allow-Origin"] = str(request.origin)
            response.headers["Access-Control-Expose-Headers"] = EXPOSED
        return response

    if origins:
        app.before_request(preflight)
        app.after_request(allow)


def _method() -> str | None:
    """Return the method of the present path that a portal's page may use; None where it may not ask."""
    return next((method for method, path in ROUTES if path.fullmatch(request.path)), None)
