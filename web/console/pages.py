"""Makes the console's pages, and serves the files that they load."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final, cast

from flask import Blueprint, Response, g, render_template, request

from refund_agent.casebook import QueueName
from refund_agent.ports import StoreUnavailable
from web.console.door import present_session
from web.console.writing import FILTERS
from web.kinds import Kind
from web.problems import Problem, Refused
from web.security_headers import trusted_page_policy

HOME: Final = "/console/"
HEADERS: Final = {
    "Content-Security-Policy": trusted_page_policy("'none'", images="'self' data:", forms="'self'"),
    # With `no-referrer`, the default, a browser sends `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_TYPES: Final = {"css": "text/css", "js": "text/javascript"}
_FILES_LAST: Final = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of the navigation: the page `/console/<path>`."""

    path: str
    title: str


PLACES: Final = (
    Place("overview", "Overview"),
    Place("conversations", "Conversations"),
    Place("approvals", "Approvals"),
    Place("unknown", "Unknown refunds"),
    Place("stuck", "Stuck turns"),
)


def lead_to(address: str) -> Response:
    """Answer a form with the page to see next; reloading that sends nothing again."""
    return Response(status=303, headers={"Location": address})


def unless_same(answer: Response) -> Response:
    """Let a page that looks again learn that nothing has changed, with 304 and no body."""
    answer.add_etag()
    answer.make_conditional(request)
    return answer


class Pages:
    """Makes pages from templates. The files' address changes with their content, so they may be kept."""

    def __init__(self, count_waiting: Callable[[], Mapping[QueueName, int]]) -> None:
        self._count_waiting = count_waiting
        folder = files("web").joinpath("static", "console")
        self._files = {
            one.name: one.read_bytes()
            for one in sorted(folder.iterdir(), key=lambda one: one.name)
            if one.name.rpartition(".")[2] in _TYPES
        }
        whole = hashlib.sha256(b"".join(self._files.values()))
        self._version = whole.hexdigest()[:12]

    def show(self, template: str, *, status: int = 200, place: str = "", **context: object) -> Response:
        """Answer with a page; `place` is the entry of the navigation that it belongs to."""
        session = present_session()
        text = render_template(
            f"console/{template}",
            session=session,
            waiting_in=self._waiting_in() if session else {},
            places=PLACES,
            place=place,
            asset=self.address,
            **context,
        )
        answer = Response(text, status=status, mimetype="text/html")
        answer.headers.update(HEADERS)
        return answer

    def unless_seen(self, stamp: str, show: Callable[[], Response]) -> Response:
        """Make a page, unless the one that the reader has was made of the same: then nothing is made, 304.

        What waits in the queues is on every page.
        """
        session = present_session()
        made_of = f"{stamp}-{self._waiting_in()}-{session.csrf if session else ''}"
        etag = hashlib.sha256(made_of.encode()).hexdigest()[:32]
        answer = Response(status=304) if request.if_none_match.contains(etag) else show()
        answer.set_etag(etag)
        return answer

    def _waiting_in(self) -> Mapping[QueueName, int]:
        """Return how much waits in each queue, asked once a request; nothing when the database cannot be."""
        if "console_waiting" not in g:
            try:
                g.console_waiting = self._count_waiting()
            except StoreUnavailable:
                g.console_waiting = {}
        return cast("Mapping[QueueName, int]", g.console_waiting)

    def address(self, name: str) -> str:
        """Return where a file of ours is served."""
        return f"/console/static/{self._version}/{name}"

    def install(self, routes: Blueprint) -> None:
        """Serve `web/static/console` to everybody, and teach templates how things are written."""
        for name, write in FILTERS.items():
            routes.add_app_template_filter(write, name)

        @routes.get("/static/<version>/<name>")
        def file(version: str, name: str) -> Response:
            content = self._files.get(name)
            if content is None:
                raise Refused(Problem(Kind.NOT_FOUND, "There is nothing at this path. Nothing was done."))
            answer = Response(content, mimetype=_TYPES[name.rpartition(".")[2]])
            answer.headers["Cache-Control"] = _FILES_LAST if version == self._version else "no-store"
            return answer
