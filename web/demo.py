"""A plain chat page to try the service with. It exists in development only."""

from flask import Blueprint, Response, jsonify

from web.pages import page

SUGGESTIONS = ()


def blueprint() -> Blueprint:
    """Return the page, its files, and the list of things to try."""
    routes = Blueprint("demo", __name__)

    @routes.get("/")
    def chat() -> Response:
        return page("chat.html")

    @routes.get("/demo/chat.js")
    def script() -> Response:
        return page("chat.js")

    @routes.get("/demo/chat.css")
    def style() -> Response:
        return page("chat.css")

    @routes.get("/demo/suggestions.json")
    def suggestions() -> Response:
        return jsonify(SUGGESTIONS)

    return routes
