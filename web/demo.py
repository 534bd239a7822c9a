"""A plain chat page to try the service with. It exists in development only."""

from dataclasses import dataclass
from typing import Final

from flask import Blueprint, Response, jsonify

from web.pages import page


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something to say, and what is expected when the sandbox's model and payments answer it.

    A message that starts with a name in brackets makes the sandbox's model play that script.
    """

    say: str
    expect: str


SUGGESTIONS: Final = (
    Suggestion("Please refund 49.99 for order SHOP-1001.", "200, and one refund of 49.99."),
    Suggestion("I want my money back for order SHOP-1002.", "200: it asks how much. Nothing is sent."),
    Suggestion(
        "[two-calls] refund 5.00 for order SHOP-1003",
        "200, and one refund: the second call of the same message is refused.",
    ),
    Suggestion(
        "[bad-json] refund 5.00 for order SHOP-1004",
        "200, and one refund: broken arguments are never sent and do not count as the attempt.",
    ),
    Suggestion(
        "[five-rounds] refund 5.00 for order SHOP-1005",
        "502, as the model never comes to a reply; the problem says that one refund was paid.",
    ),
    Suggestion(
        "[timeout-on-2] refund 5.00 for order SHOP-1006",
        "200 after a time-out and one retry, which goes on after the refund: one refund.",
    ),
    Suggestion(
        "[timeout-twice-after-refund] refund 5.00 for order SHOP-1007",
        "504 after two time-outs; the problem says that the refund was paid.",
    ),
    Suggestion("[timeout] refund 5.00 for order SHOP-1008", "504 after two time-outs; no refund was sent."),
    Suggestion("[http-500] refund 5.00 for order SHOP-1009", "502 at once; no refund was sent."),
    Suggestion("[empty-text] hello", "200 with an empty reply, which is a valid one."),
)


def blueprint(*, begins_with_chat: bool) -> Blueprint:
    """Return the page, its files, the list of things to try, and `/`, which leads to it or to the chat."""
    routes = Blueprint("demo", __name__)

    @routes.get("/")
    def home() -> Response:
        return Response(status=302, headers={"Location": "/chat" if begins_with_chat else "/demo"})

    @routes.get("/demo")
    def demo() -> Response:
        return page("demo.html")

    @routes.get("/demo/demo.js")
    def script() -> Response:
        return page("demo.js")

    @routes.get("/demo/demo.css")
    def style() -> Response:
        return page("demo.css")

    @routes.get("/demo/suggestions.json")
    def suggestions() -> Response:
        return jsonify(SUGGESTIONS)

    return routes
