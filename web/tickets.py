"""`POST /support/tickets`: a one-use ticket for a URL that is opened where no header can be sent."""

from typing import Any, Final

from flask import Response, jsonify
from flask_smorest import Blueprint
from marshmallow import RAISE, Schema, fields, validate

from refund_agent.identity import TICKET_SECONDS, Tickets, TicketsUnavailable
from web.api_docs import FOR_SUPPORT, with_problems
from web.body import StrictJsonParser
from web.identity import require_identity, tickets_away
from web.ids import API_ROOT
from web.problems import respond

PATH: Final = r"/(?:support|console)/[A-Za-z0-9/_-]{1,200}"


class TicketRequest(Schema):
    """Where the ticket is to be used. No other fields."""

    class Meta:
        """Refuse fields that are not declared."""

        unknown = RAISE

    path = fields.String(
        required=True,
        validate=validate.Regexp(PATH + r"\Z", error="must be a path below /support/ or /console/"),
        metadata={"description": "The path it opens, without a query.", "example": "/support/turns/…/events"},
    )


class Ticket(Schema):
    """A ticket: append it as `?ticket=`. It works once, at its path, for `expires_in` seconds."""

    ticket = fields.String(required=True)
    expires_in = fields.Integer(required=True)


def blueprint(tickets: Tickets) -> Any:  # noqa: ANN401 - flask-smorest is not typed
    """Return the route."""

    def issue(body: dict[str, str]) -> Response:
        """Issue a ticket that stands for the caller's token, once, at one path."""
        identity = require_identity()
        try:
            ticket = tickets.issue(identity, path=body["path"])
        except TicketsUnavailable:
            return respond(tickets_away())
        answer = jsonify({"ticket": ticket, "expires_in": TICKET_SECONDS})
        answer.headers["Cache-Control"] = "no-store"
        return answer

    routes: Any = Blueprint("tickets", __name__, description="For streams.")
    routes.ARGUMENTS_PARSER = StrictJsonParser()
    view: Any = routes.arguments(TicketRequest, location="json")(issue)
    view = routes.response(200, Ticket, description="The ticket.")(view)
    view = with_problems(routes, view, 400, 401, 415, 422, 503)
    view = routes.doc(security=FOR_SUPPORT)(view)
    routes.add_url_rule(f"{API_ROOT}tickets", view_func=view, methods=["POST"])
    return routes
