"""Puts the console together. A part adds its own routes; what is below `/console` is for staff only."""

from flask import Blueprint, Flask, Response, request

from refund_agent.identity import SignIn
from refund_agent.ports import StoreUnavailable
from web.console import (
    approvals,
    case_list,
    conversation_acts,
    conversation_page,
    errors,
    export,
    overview_page,
    sign_in,
    stuck,
    tickets,
    turn_page,
    unknown,
)
from web.console.door import Door
from web.console.pages import Pages, lead_to
from web.console.sign_in import SignInPage
from web.kinds import Kind
from web.problems import RETRY_AFTER, Problem, Refused, respond
from web.services import ConsoleServices


def install(app: Flask, console: ConsoleServices, signing_in: SignIn) -> None:
    """Add the console to the application."""
    routes = Blueprint("console", __name__, url_prefix="/console", template_folder="templates")
    door = Door(console.sessions, over_https_only=console.over_https_only)
    pages = Pages(console.casebook.waiting)
    sign_in_page = SignInPage(pages, signing_in.picker)
    routes.before_request(door.guard)
    pages.install(routes)
    sign_in.add_routes(routes, door=door, page=sign_in_page, sign_in=signing_in)
    overview_page.add_routes(routes, pages=pages, console=console)
    case_list.add_routes(routes, pages=pages, console=console)
    export.add_routes(routes, pages=pages, console=console)
    approvals.add_routes(routes, pages=pages, console=console)
    unknown.add_routes(routes, pages=pages, console=console)
    conversation_page.add_routes(routes, pages=pages, console=console)
    turn_page.add_routes(routes, pages=pages, console=console)
    stuck.add_routes(routes, pages=pages, console=console)
    conversation_acts.add_routes(routes, conversations=console.conversations)
    tickets.add_routes(routes, tickets=signing_in.tickets)

    @routes.get("")
    @routes.get("/")
    def home() -> Response:
        return lead_to("/console/conversations")

    @routes.route("/<path:anything>", methods=["GET", "POST"])
    def nothing(anything: str) -> Response:  # noqa: ARG001 - the rule's own name
        """Say so to whoever is signed in; nobody else learns what there is."""
        raise Refused(Problem(Kind.NOT_FOUND, "There is nothing at this path. Nothing was done."))

    routes.register_error_handler(StoreUnavailable, _away)
    errors.install(app, pages=pages, sign_in=sign_in_page)
    app.register_blueprint(routes)


def _away(_: StoreUnavailable) -> Response:
    if request.method == "POST":
        detail = "The database did not answer. Perhaps it was saved, perhaps not: look before you repeat it."
    else:
        detail = "The database cannot be asked now. Nothing was changed; try again in a few seconds."
    return respond(Problem(Kind.NOT_READABLE, detail, headers=RETRY_AFTER))
