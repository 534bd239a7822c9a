"""`POST /support/refund-chat`: one customer's message in, the ending of its turn out."""

from typing import Any, Final

from flask import Response
from flask_smorest import Blueprint

from refund_agent.turn import NewTurn
from web.body import StrictJsonParser
from web.ids import SANE_REQUEST_ID, TURN_ROUTES, request_id, turn_id
from web.kinds import Kind
from web.problems import CONTENT_TYPE, hand_over
from web.render import render
from web.schemas import ProblemDocument, RefundChatReply, RefundChatRequest
from web.services import Asks

TURN_ID: Final = {
    "X-Turn-Id": {"description": "The turn's id.", "schema": {"type": "string", "format": "uuid"}}
}
REQUEST_ID: Final = {
    "name": "X-Request-Id",
    "in": "header",
    "description": "Put on the answer and in every log line of the request; made up when absent or not sane.",
    "schema": {"type": "string", "pattern": f"^{SANE_REQUEST_ID.pattern}$"},
}
OTHER_KINDS: Final = frozenset({Kind.NOT_FOUND, Kind.METHOD_NOT_ALLOWED, Kind.NOT_READY})
OWN_KINDS: Final = tuple(kind for kind in Kind if kind not in OTHER_KINDS)


def blueprint(facade: Asks) -> Any:  # noqa: ANN401 - flask-smorest is not typed
    """Return the route, documented from the same schemas that validate it."""

    def refund_chat(body: dict[str, str]) -> Response:
        """Answer one customer's message.

        Runs one turn of the assistant, with at most one refund, and waits for its ending. Do not repeat a
        request whose problem has a `refund` of state `paid` or `unknown`: that could refund twice.
        """
        new = NewTurn(id=turn_id(), user_id=body["user_id"], message=body["message"], request_id=request_id())
        hand_over()
        return render(facade.ask(new))

    routes: Any = Blueprint("support", __name__, description="What the support portal calls.")
    routes.ARGUMENTS_PARSER = StrictJsonParser()
    view: Any = routes.arguments(RefundChatRequest, location="json")(refund_chat)
    view = routes.response(200, RefundChatReply, description="The assistant's reply.", headers=TURN_ID)(view)
    for status in sorted({kind.status for kind in OWN_KINDS}):
        view = routes.alt_response(
            status,
            schema=ProblemDocument,
            content_type=CONTENT_TYPE,
            description="; or: ".join(kind.title for kind in OWN_KINDS if kind.status == status),
            headers=TURN_ID,
        )(view)
    view = routes.doc(security=[{"portalToken": []}], parameters=[REQUEST_ID])(view)
    routes.add_url_rule(f"{TURN_ROUTES}refund-chat", view_func=view, methods=["POST"])
    return routes
