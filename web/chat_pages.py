"""The customer's chat as pages: the module that a portal embeds, a page for an iframe, and a whole page."""

import gzip
from collections.abc import Sequence
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from typing import Final

from flask import Blueprint, Response, jsonify, request

from refund_agent.seeds import things_to_say
from web.chat_module import chat_module
from web.security_headers import trusted_page_policy

PAGE_FILES: Final = ("page.css", "icon.svg", "hosted.js", "dev.js")
_TYPES: Final = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def blueprint(origins: Sequence[str], *, picks: bool) -> Blueprint:
    """Return the pages. `origins` may frame or open them; with `picks` the page offers seeded customers."""
    routes = Blueprint("chat_pages", __name__)
    framed, alone = trusted_page_policy("'self'", *origins), trusted_page_policy("'none'")

    @routes.get("/chat")
    def whole_page() -> Response:
        return _page("dev.html" if picks else "hosted.html", policy=alone)

    @routes.get("/chat/embed")
    def embedded() -> Response:
        return _page("hosted.html", policy=framed)

    @routes.get("/chat/refund-chat.js")
    def element() -> Response:
        """Give the element to any page of any origin: nothing in it is anybody's."""
        answer = _revalidated(chat_module(), "text/javascript")
        answer.headers["Access-Control-Allow-Origin"] = "*"
        answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        return answer

    @routes.get("/chat/host.json")
    def host() -> Response:
        """Name the origins that the page takes a token from."""
        return jsonify({"origins": list(origins)})

    if picks:
        routes.add_url_rule("/chat/scenarios.json", view_func=lambda: jsonify(things_to_say()))
    for name in PAGE_FILES:
        view = partial(_file, name)
        routes.add_url_rule(f"/chat/{name}", endpoint=name.replace(".", "-"), view_func=view)
    return routes


def _page(name: str, *, policy: str) -> Response:
    answer = _file(name)
    answer.headers["Content-Security-Policy"] = policy
    return answer


def _file(name: str) -> Response:
    content = files("web").joinpath("static", "chat", name).read_bytes()
    return _revalidated(content, _TYPES[name.rpartition(".")[2]])


def _revalidated(content: bytes, mimetype: str) -> Response:
    """Answer with what a browser may keep, if it asks each time whether it is still the same."""
    answer = Response(content, mimetype=mimetype)
    tag = sha256(content).hexdigest()[:32]
    if request.accept_encodings["gzip"]:
        answer.data = _gzipped(content)
        answer.content_encoding = "gzip"
        tag += "-gzip"
    answer.vary.add("Accept-Encoding")
    answer.headers["Cache-Control"] = "no-cache"
    answer.set_etag(tag)
    answer.make_conditional(request)
    return answer


@cache
def _gzipped(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)
