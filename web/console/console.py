"""Puts the console together. A part adds its own routes; what is below `/console` is for staff only."""

from flask import Blueprint, Flask, Response

from refund_agent.identity import SignIn
from web.console import errors, sign_in, stuck
from web.console.door import Door
from web.console.pages import Pages, lead_to
from web.console.sign_in import SignInPage
from web.services import ConsoleServices


def install(app: Flask, console: ConsoleServices, signing_in: SignIn) -> None:
    """Add the console to the application."""
    routes = Blueprint("console", __name__, url_prefix="/console", template_folder="templates")
    door = Door(console.sessions, over_https_only=console.over_https_only)
    pages = Pages()
    sign_in_page = SignInPage(pages, signing_in.picker)
    routes.before_request(door.guard)
    pages.install(routes)
    sign_in.add_routes(routes, door=door, page=sign_in_page, sign_in=signing_in)
    stuck.add_routes(routes, pages=pages, console=console)

    @routes.get("")
    @routes.get("/")
    def home() -> Response:
        return lead_to("/console/stuck")

    errors.install(app, pages=pages, sign_in=sign_in_page)
    app.register_blueprint(routes)
