"""`POST /console/tickets`: an EventSource sends no header, and our cookie is for `/console` only."""

import re
from typing import Final

from flask import Blueprint, Response, jsonify

from refund_agent.identity import TICKET_SECONDS, Tickets, TicketsUnavailable
from web.console import fields
from web.identity import require_staff, tickets_away
from web.kinds import Kind
from web.problems import Problem, Refused

_EVENTS: Final = re.compile(r"/support/turns/[0-9a-f-]{36}/events")


def add_routes(routes: Blueprint, *, tickets: Tickets) -> None:
    """Add the route."""

    @routes.route("/tickets", methods=["POST"])
    def issue_ticket() -> Response:
        """Issue a one-use ticket for the events of a turn, the form's `path`."""
        staff, path = require_staff(write=False), fields.line("path")
        if not _EVENTS.fullmatch(path):
            raise Refused(Problem(Kind.INVALID_BODY, "`path` must be a turn's events. Nothing was done."))
        try:
            ticket = tickets.issue(staff, path=path)
        except TicketsUnavailable:
            raise Refused(tickets_away()) from None
        return jsonify({"ticket": ticket, "expires_in": TICKET_SECONDS})
