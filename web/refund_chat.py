"""`POST /support/refund-chat`: one customer's message in, the ending of its turn out."""

import re
from typing import Any, Final

from flask import Response, jsonify, request
from flask_smorest import Blueprint
from werkzeug.http import parse_list_header

from refund_agent.facade import Started
from refund_agent.turn import NewTurn
from web.body import StrictJsonParser
from web.idempotency import HEADER, MAX_KEY_LENGTH, fingerprint, read_key
from web.ids import API_ROOT, SANE_REQUEST_ID, adopt_turn_id, request_id, turn_id
from web.kinds import Kind
from web.problems import CONTENT_TYPE, mark_taken
from web.render import render
from web.schemas import Accepted, ProblemDocument, RefundChatReply, RefundChatRequest
from web.services import Asks

TURN_ID: Final = {
    "X-Turn-Id": {"description": "The turn's id.", "schema": {"type": "string", "format": "uuid"}}
}
LOCATION: Final = {
    "Location": {"description": "Where to poll the turn.", "schema": {"type": "string"}},
}
REQUEST_ID: Final = {
    "name": "X-Request-Id",
    "in": "header",
    "description": "Put on the answer and in every log line of the request; made up when absent or not sane.",
    "schema": {"type": "string", "pattern": f"^{SANE_REQUEST_ID.pattern}$"},
}
IDEMPOTENCY_KEY: Final = {
    "name": HEADER,
    "in": "header",
    "description": "Makes a retry safe: the same key and body join the running turn, or get its stored "
    "answer with `Idempotent-Replayed: true`. One key per composed message.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_LENGTH},
}
PREFER: Final = {
    "name": "Prefer",
    "in": "header",
    "description": "`respond-async`: answer 202 with `Location` at once, and poll.",
    "schema": {"type": "string"},
}
OTHER_KINDS: Final = frozenset(
    {
        Kind.NOT_FOUND,
        Kind.NO_SUCH_TURN,
        Kind.METHOD_NOT_ALLOWED,
        Kind.NOT_READY,
        Kind.NOT_READABLE,
        Kind.CONVERSATION_BUSY,
        Kind.NO_SUCH_CONVERSATION,
        Kind.NO_SUCH_APPROVAL,
        Kind.STATE_CHANGED,
        Kind.TOO_MANY_STREAMS,
        Kind.STREAMS_FULL,
        Kind.SIGN_IN_REQUIRED,
        Kind.NOT_ALLOWED,
        Kind.CROSS_ORIGIN,
        Kind.TOO_FAST,
        Kind.TOKENS_USED_UP,
        Kind.CONVERSATION_FULL,
        Kind.NO_ROOM,
        Kind.LIMITER_AWAY,
        Kind.TICKETS_AWAY,
        Kind.SESSIONS_AWAY,
    }
)
OWN_KINDS: Final = tuple(kind for kind in Kind if kind not in OTHER_KINDS)


_NOT_TO_WAIT: Final = re.compile(r'respond-async\s*(=\s*(""\s*)?)?(;.*)?', re.IGNORECASE | re.DOTALL)
"""One preference of the header; its parameters are ignored, as the RFC asks."""


def _prefers_not_to_wait() -> bool:
    """Whether the caller sent `Prefer: respond-async` (RFC 7240), which has no value, or an empty one."""
    preferences = parse_list_header(",".join(request.headers.getlist("Prefer")))
    return any(_NOT_TO_WAIT.fullmatch(preference) for preference in preferences)


def _accepted(started: Started) -> Response:
    adopt_turn_id(started.turn_id)
    answer = jsonify({"turn_id": started.turn_id})
    answer.status_code = 202
    answer.headers["Location"] = f"{API_ROOT}turns/{started.turn_id}"
    answer.headers["Preference-Applied"] = "respond-async"
    return answer


def blueprint(facade: Asks) -> Any:  # noqa: ANN401 - flask-smorest is not typed
    """Return the route, documented from the same schemas that validate it."""

    def refund_chat(body: dict[str, str]) -> Response:
        """Answer one customer's message.

        Runs one turn of the assistant, with at most one refund, and waits for its ending. Do not repeat a
        request whose problem has a `refund` of state `paid` or `unknown`: that could refund twice.
        """
        new = NewTurn(
            id=turn_id(),
            user_id=body["user_id"],
            message=body["message"],
            request_id=request_id(),
            idempotency_key=read_key(),
            fingerprint=fingerprint(body),
        )
        mark_taken()
        if not _prefers_not_to_wait():
            return render(facade.ask(new))
        started = facade.start(new)
        return _accepted(started) if isinstance(started, Started) else render(started)

    routes: Any = Blueprint("support", __name__, description="What the support portal calls.")
    routes.ARGUMENTS_PARSER = StrictJsonParser()
    view: Any = routes.arguments(RefundChatRequest, location="json")(refund_chat)
    view = routes.response(200, RefundChatReply, description="The assistant's reply.", headers=TURN_ID)(view)
    view = routes.alt_response(
        202, schema=Accepted, description="Only after `Prefer: respond-async`.", headers=TURN_ID | LOCATION
    )(view)
    for status in sorted({kind.status for kind in OWN_KINDS}):
        view = routes.alt_response(
            status,
            schema=ProblemDocument,
            content_type=CONTENT_TYPE,
            description="; or: ".join(kind.title for kind in OWN_KINDS if kind.status == status),
            headers=TURN_ID,
        )(view)
    view = routes.doc(security=[{"portalToken": []}], parameters=[REQUEST_ID, IDEMPOTENCY_KEY, PREFER])(view)
    routes.add_url_rule(f"{API_ROOT}refund-chat", view_func=view, methods=["POST"])
    return routes
