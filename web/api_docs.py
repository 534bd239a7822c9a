"""The API document at `/openapi.json`, and a page at `/docs` to read and try it, without any other host."""

from functools import partial
from importlib.resources import files
from typing import Any, Final

from flask import Blueprint, Flask, Response
from flask_smorest import Api

from web.kinds import Kind
from web.pages import page
from web.problems import CONTENT_TYPE
from web.schemas import ProblemDocument

VERSION: Final = "1"
UI_FILES: Final = {"swagger-ui.css": "text/css", "swagger-ui-bundle.js": "text/javascript"}
"""The files of the flask-swagger-ui wheel that the page needs."""
READING_A_BODY: Final = (400, 408, 413, 415, 422)
"""What a route that takes a JSON body may answer about the body alone."""
FOR_SUPPORT: Final[list[dict[str, list[str]]]] = [{"customerToken": []}]
"""Who may call the support agent's routes: customers and staff, with a token that the host site signs."""
FOR_PORTAL_OR_SUPPORT: Final[list[dict[str, list[str]]]] = [{"portalToken": []}, *FOR_SUPPORT]
"""Who may ask about a turn: whoever could have asked for it."""


def install(app: Flask) -> Any:  # noqa: ANN401 - flask-smorest is not typed
    """Serve the API document and its page; return the `Api` that documented routes register with."""
    app.config.update(
        API_TITLE="Refund agent",
        API_VERSION=VERSION,
        OPENAPI_VERSION="3.1.0",
        OPENAPI_URL_PREFIX="/",
        OPENAPI_JSON_PATH="openapi.json",
    )
    api: Any = Api(spec_kwargs={"info": {"description": _description()}})
    api.ERROR_SCHEMA = ProblemDocument
    api.DEFAULT_ERROR_RESPONSE_NAME = None  # every problem is documented by its own status
    api.init_app(app)
    api.spec.components.schemas.pop("PaginationMetadata", None)  # nothing here has pages
    api.spec.components.security_scheme(
        "portalToken", {"type": "http", "scheme": "bearer", "description": "One of the portal's tokens."}
    )
    api.spec.components.security_scheme(
        "customerToken",
        {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "A token that your site signs for a customer, or for a member of staff.",
        },
    )
    app.register_blueprint(_pages())
    return api


def with_problems(routes: Any, view: Any, *statuses: int) -> Any:  # noqa: ANN401 - flask-smorest is not typed
    """Document that a view may answer with problems of these statuses."""
    for status in statuses:
        view = routes.alt_response(status, schema=ProblemDocument, content_type=CONTENT_TYPE)(view)
    return view


def _description() -> str:
    rows = "\n".join(f"| `{kind.type}` | {kind.status} | {kind.title} | {kind.advice} |" for kind in Kind)
    return (
        "Every error is an RFC 9457 problem, `application/problem+json`.\n\n"
        f"| type | status | title | what to do |\n|---|---|---|---|\n{rows}\n\n"
        "A status that is not listed has the type `about:blank`."
    )


def _pages() -> Blueprint:
    routes = Blueprint("docs", __name__)

    @routes.get("/docs")
    def docs() -> Response:
        return page("docs.html")

    @routes.get("/docs/docs.js")
    def script() -> Response:
        return page("docs.js")

    @routes.get("/docs/docs.css")
    def style() -> Response:
        return page("docs.css")

    for name, mimetype in UI_FILES.items():
        view = partial(_ui_file, name=name, mimetype=mimetype)
        routes.add_url_rule(f"/docs/{name}", endpoint=name.replace(".", "-"), view_func=view)
    return routes


def _ui_file(*, name: str, mimetype: str) -> Response:
    answer = Response(files("flask_swagger_ui").joinpath("dist", name).read_bytes(), mimetype=mimetype)
    answer.headers["Cache-Control"] = "public, max-age=3600"
    return answer
