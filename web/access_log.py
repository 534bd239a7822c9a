"""One line a request: what was asked of which route, how it ended, how long it took. Never what was said."""

import time
from typing import Final

import structlog
from flask import Flask, Response, g, request

log = structlog.stdlib.get_logger(__name__)

QUIET_RULES: Final = frozenset({"/healthz"})
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def install(app: Flask) -> None:
    """Write the line once an answer is ready. The ids come from the log's context."""
    app.before_request(_start)
    app.after_request(_write)


def _start() -> None:
    g.started = time.monotonic()


def _write(response: Response) -> Response:
    # The rule, not the path: a path is whatever the caller typed.
    rule = request.url_rule.rule if request.url_rule else "none"
    if rule not in QUIET_RULES:
        log.info(
            "request",
            method=request.method if request.method in _METHODS else "other",
            route=rule,
            status=response.status_code,
            problem=g.get("problem"),
            duration_ms=round((time.monotonic() - g.started) * 1000, 1),
        )
    return response
