"""`GET /support/turns/{id}`: where a turn stands, for a caller that does not wait or lost its connection."""

from typing import Any
from uuid import UUID

from flask import Response, jsonify
from flask_smorest import Blueprint

from refund_agent.facade import Unreadable
from web.api_docs import FOR_PORTAL_OR_SUPPORT, with_problems
from web.identity import may_read
from web.ids import API_ROOT, adopt_turn_id
from web.kinds import Kind
from web.languages import ACCEPT_LANGUAGE, in_language, readers_language_of
from web.problems import NOT_READABLE, Problem, respond
from web.schemas import TurnView
from web.services import Asks
from web.turn_view import view


def blueprint(facade: Asks) -> Any:  # noqa: ANN401 - flask-smorest is not typed
    """Return the route."""

    def turn(turn_id: UUID) -> Response:
        """Say where a turn stands: queued, running, done or failed; with its reply and its refund."""
        adopt_turn_id(str(turn_id))
        found = facade.find(str(turn_id))
        if isinstance(found, Unreadable):
            return respond(NOT_READABLE)
        if found is None or not may_read(found):
            return respond(Problem(Kind.NO_SUCH_TURN, "There is no such turn. Nothing was done."))
        language = readers_language_of(found)
        return in_language(jsonify(view(found, language)), language)

    routes: Any = Blueprint("turns", __name__, description="Where a turn stands.")
    documented: Any = routes.response(200, TurnView, description="The turn.")(turn)
    documented = with_problems(routes, documented, 401, 404, 503)
    documented = routes.doc(security=FOR_PORTAL_OR_SUPPORT, parameters=[ACCEPT_LANGUAGE])(documented)
    routes.add_url_rule(f"{API_ROOT}turns/<uuid:turn_id>", view_func=documented, methods=["GET"])
    return routes
