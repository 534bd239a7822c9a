"""RFC 9457 problems: the only shape in which this service says no."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import structlog
from flask import Flask, Response, g
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from web.ids import turn_id
from web.kinds import Kind

log = structlog.stdlib.get_logger(__name__)

CONTENT_TYPE: Final = "application/problem+json"
RETRY_AFTER: Final = {"Retry-After": "5"}
UNKNOWN_REFUND: Final = {"state": "unknown"}


@dataclass(frozen=True, slots=True)
class Problem:
    """One answer that is not a success. `detail` says what happened, what did not, and what to do.

    `members` are extension members, such as `errors`; `refund` is one that every problem has.
    """

    kind: Kind
    detail: str
    refund: Mapping[str, object] | None = None
    members: Mapping[str, object] = field(default_factory=dict[str, object])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def document(self) -> dict[str, object]:
        """Give the standard members."""
        kind = self.kind
        return {"type": kind.type, "title": kind.title, "status": kind.status, "detail": self.detail}


NOT_READABLE: Final = Problem(
    Kind.NOT_READABLE,
    "The database cannot be asked now. Nothing was changed; ask again after `Retry-After`.",
    headers=RETRY_AFTER,
)
"""What a request that only reads is told while the database is away."""


class Refused(Exception):
    """The request ends here, at the door, with this problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.kind.name)
        self.problem = problem


def respond(problem: Problem) -> Response:
    """Answer with a problem document."""
    return _document(
        problem.document(), refund=problem.refund, members=problem.members, headers=problem.headers
    )


def install(app: Flask) -> None:
    """Answer everything that goes wrong with a problem: no HTML, and never a word about our insides."""
    app.register_error_handler(Refused, lambda refused: respond(refused.problem))
    app.register_error_handler(HTTPException, _of_http)
    app.register_error_handler(Exception, _of_bug)


def mark_taken() -> None:
    """Say that the turn is in other hands: from here on an exception does not prove that nothing was sent."""
    g.taken = True


def _of_http(error: HTTPException) -> Response:
    match error.code:
        case 404:
            return respond(Problem(Kind.NOT_FOUND, "There is nothing at this path. Nothing was done."))
        case 405:
            allowed = (
                ", ".join(sorted(error.valid_methods or ())) if isinstance(error, MethodNotAllowed) else ""
            )
            detail = f"This path takes {allowed} only. Nothing was done."
            return respond(Problem(Kind.METHOD_NOT_ALLOWED, detail, headers={"Allow": allowed}))
        case _:
            return _of_status(error)


def _of_status(error: HTTPException) -> Response:
    """Answer an HTTP error of the framework's that has no kind of its own."""
    status = HTTPStatus(error.code or 500)
    body = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": status.description,
    }
    return _document(body)


def _of_bug(bug: Exception) -> Response:
    log.error("request_broken", exc_info=bug)
    if not g.get("taken"):
        return respond(
            Problem(Kind.INTERNAL_ERROR, "A mistake of ours. Nothing was sent, and no refund made.")
        )
    detail = (
        "A mistake of ours, after the request was taken: a refund may have been sent. Do not send the "
        "request again; a colleague will check."
    )
    return respond(Problem(Kind.INTERNAL_ERROR, detail, refund=UNKNOWN_REFUND))


def _document(
    body: Mapping[str, object],
    *,
    refund: Mapping[str, object] | None = None,
    members: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    g.problem = body["type"]
    document = {**body, "turn_id": turn_id() or None, "refund": refund, **(members or {})}
    answer = Response(json.dumps(document), status=int(str(body["status"])), content_type=CONTENT_TYPE)
    answer.headers.extend(headers or {})
    return answer
