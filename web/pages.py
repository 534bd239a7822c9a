"""Our own few static files, served under a policy that allows nothing inline and nothing from elsewhere."""

from importlib.resources import files
from typing import Final

from flask import Response

from web.security_headers import PAGE_POLICY

_TYPES: Final = {"html": "text/html", "css": "text/css", "js": "text/javascript"}


def page(name: str) -> Response:
    """Return the file `web/static/<name>`; the name is one of ours, never a caller's."""
    content = files("web").joinpath("static", name).read_bytes()
    answer = Response(content, mimetype=_TYPES[name.rpartition(".")[2]])
    answer.headers["Content-Security-Policy"] = PAGE_POLICY
    return answer
