"""Listens to everything a page must never do: fail, break its policy, or call another host."""

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Request, Response, WebError

REPORT: Final = "policy violation:"
REPORTER: Final = f"""
addEventListener("securitypolicyviolation", ({{effectiveDirective, blockedURI, sourceFile, lineNumber}}) =>
  console.error(`{REPORT} ${{effectiveDirective}} ${{blockedURI}} at ${{sourceFile}}:${{lineNumber}}`));
"""
OWN_SCHEMES: Final = ("data", "blob", "about")
PARTS: Final = ("document", "stylesheet", "script", "image", "font", "manifest")
FAILED_LOAD: Final = "Failed to load resource"
"""Chromium says it of every answer of 400 and more, also of a `fetch` whose page handles it."""


@dataclass
class Watch:
    """What the pages of one browser context did wrong, in words; `origins` are those they may call."""

    origins: set[str]
    found: list[str] = field(default_factory=list)

    def listen(self, context: BrowserContext) -> None:
        """Listen to every page and frame that the context will open."""
        context.add_init_script(REPORTER)
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("dialog", self._dialog)
        context.on("request", self._request)
        context.on("response", self._response)

    def take(self) -> list[str]:
        """Return what was found, and forget it: for a test that provokes it."""
        found, self.found = self.found, []
        return found

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not message.text.startswith(FAILED_LOAD):
            self.found.append(f"{message.type} in the console: {message.text}")

    def _error(self, error: WebError) -> None:
        self.found.append(f"uncaught: {error.error.message}")

    def _dialog(self, dialog: Dialog) -> None:
        self.found.append(f"{dialog.type} dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in OWN_SCHEMES and f"{parts.scheme}://{parts.netloc}" not in self.origins:
            self.found.append(f"foreign request: {request.method} {request.url}")

    def _response(self, response: Response) -> None:
        kind = response.request.resource_type
        least = 500 if kind == "document" else 400  # a page may well say that something is not there
        if kind in PARTS and response.status >= least:
            self.found.append(f"{response.status} for {kind} {response.url}")
