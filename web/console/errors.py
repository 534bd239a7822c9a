"""What went wrong, below `/console`, as a page for a browser; whoever asks for JSON keeps the problem."""

import json
from http import HTTPStatus

from flask import Flask, Response, request

from web.console.pages import HOME, Pages
from web.console.sign_in import SignInPage
from web.problems import CONTENT_TYPE

_KEPT = ("Retry-After", "Allow")


def install(app: Flask, *, pages: Pages, sign_in: SignInPage) -> None:
    """Turn every problem below `/console` into a page."""

    def translate(answer: Response) -> Response:
        ours = request.path.startswith(HOME) and answer.content_type == CONTENT_TYPE
        if not ours or request.accept_mimetypes.best_match([CONTENT_TYPE, "text/html"]) != "text/html":
            return answer
        problem, status = json.loads(answer.get_data()), answer.status_code
        if status == HTTPStatus.UNAUTHORIZED:
            page = sign_in.show(status=status, problem=problem, after=_present_address())
        else:
            page = pages.show("problem.html", status=status, problem=problem)
        page.headers.extend({name: answer.headers[name] for name in _KEPT if name in answer.headers})
        return page

    app.after_request(translate)


def _present_address() -> str:
    """Return the page that was asked for, to come back to after signing in."""
    return request.full_path.rstrip("?") if request.method == "GET" else HOME
