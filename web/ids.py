"""The ids of a request: its own, and that of the turn it may become. Both are there before anything else."""

import re
import uuid
from typing import Final

from flask import Flask, Response, g, request
from structlog.contextvars import bind_contextvars, clear_contextvars

API_ROOT: Final = "/support/"
"""A request below this path gets a turn's id at the door; the turn, if it is stored, is stored under it."""

SANE_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,128}")


def install(app: Flask) -> None:
    """Give every request its ids, put them in every log line of the request, and on every answer."""
    app.before_request(_assign)
    app.after_request(_show)
    app.teardown_request(_forget)


def request_id() -> str:
    """Return the request's id: the caller's `X-Request-Id` when it is a sane one, else ours."""
    return str(g.request_id)


def turn_id() -> str:
    """Return the id of the turn that the request may become; empty where no turn can come of it."""
    return str(g.get("turn_id", ""))


def adopt_turn_id(found: str) -> None:
    """Answer for a turn that was there before this request."""
    g.turn_id = found
    bind_contextvars(turn_id=found)


def _assign() -> None:
    given = request.headers.get("X-Request-Id", "")
    g.request_id = given if SANE_REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
    g.turn_id = str(uuid.uuid4()) if request.path.startswith(API_ROOT) else ""
    clear_contextvars()
    bind_contextvars(request_id=g.request_id)
    if g.turn_id:
        bind_contextvars(turn_id=g.turn_id)


def _forget(_: BaseException | None) -> None:
    clear_contextvars()


def _show(response: Response) -> Response:
    response.headers["X-Request-Id"] = request_id()
    if found := turn_id():
        response.headers["X-Turn-Id"] = found
    return response
