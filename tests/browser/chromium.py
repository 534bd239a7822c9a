"""Debian's Chromium under Playwright, and the accessibility checker that is put into its pages."""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

INSTALL = "apt-get install --no-install-recommends chromium fonts-dejavu-core"
NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
)
"""It calls nobody by itself: a request that leaves is a page's."""
AXE_RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


class NoBrowser(Exception):
    """There is no Chromium; the message says how to get one."""


def find_chromium() -> str:
    """Return the browser's path: CHROMIUM names it, or it is on the PATH. Raise `NoBrowser`."""
    named = os.environ.get("CHROMIUM", "")  # noqa: TID251 - the test run's own switch
    found = shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        wanted = f"CHROMIUM={named} is no program" if named else "there is no Chromium on the PATH"
        raise NoBrowser(f"{wanted}. Install one: {INSTALL}; or name one: CHROMIUM=/path/to/chromium")
    return found


@contextmanager
def running_chromium() -> Generator[Browser]:
    """Run the browser, headless, until the context closes."""
    path = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path,
            args=[*ARGUMENTS],
            chromium_sandbox=os.geteuid() != 0,  # root has no user namespace of its own to put it in
        )
        try:
            yield browser
        finally:
            browser.close()


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule of axe that a page breaks, and where."""

    rule: str
    help: str
    nodes: tuple[str, ...]


def violations(page: Page) -> list[Violation]:
    """Return what axe finds wrong with the page as it is now: open shadow roots included, frames not.

    The checker is evaluated through the debugger, as neither a policy nor Trusted Types hold there.
    """
    debugger = page.context.new_cdp_session(page)
    try:
        _evaluate(debugger, files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
        options = f"{{runOnly: {list(AXE_RULES)}, resultTypes: ['violations'], iframes: false}}"
        found = _evaluate(debugger, f"axe.run(document, {options}).then(({{violations}}) => violations)")
    finally:
        debugger.detach()
    return [
        Violation(one["id"], one["help"], tuple(node["html"][:300] for node in one["nodes"])) for one in found
    ]


def _evaluate(debugger: Any, expression: str) -> Any:
    given = {"expression": expression, "awaitPromise": True, "returnByValue": True}
    answer = debugger.send("Runtime.evaluate", given)
    assert "exceptionDetails" not in answer, answer["exceptionDetails"]
    return answer["result"].get("value")
