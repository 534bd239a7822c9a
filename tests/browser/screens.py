"""Pictures of the pages for the README, taken by the tests when SCREENS=1 asks for them."""

import os
from pathlib import Path

from playwright.sync_api import Page

FOLDER = Path(__file__).parents[2] / "docs" / "screens"
MAX_BYTES = 150_000
ASKED = bool(os.environ.get("SCREENS", ""))  # noqa: TID251 - the test run's own switch


def screen(page: Page, name: str, *, whole: bool = False) -> None:
    """Write `docs/screens/<name>.png` of the window, or of the `whole` page, when asked for pictures."""
    if not ASKED:
        return
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.png"
    page.screenshot(path=path, full_page=whole, animations="disabled", caret="hide")
    assert path.stat().st_size < MAX_BYTES, f"{path.name} is too large for a README"
