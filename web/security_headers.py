"""The headers that every answer carries. A page that needs a wider policy sets its own before."""

from typing import Final

from flask import Flask, Response

PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""For our own pages: nothing inline, nothing from elsewhere."""


def trusted_page_policy(*frame_ancestors: str, images: str = "'self'", forms: str = "'none'") -> str:
    """Return the policy of a page whose scripts make no HTML at all; only these may put it in a frame."""
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src {images}; connect-src 'self'; "
        f"base-uri 'none'; form-action {forms}; frame-ancestors {' '.join(frame_ancestors)}; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


_DEFAULTS: Final = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def install(app: Flask) -> None:
    """Add the headers that an answer does not have yet."""
    app.after_request(_complete)


def _complete(response: Response) -> Response:
    for name, value in _DEFAULTS.items():
        response.headers.setdefault(name, value)
    return response
