"""How people look at a page: on a phone, in the dark, from right to left, without motion; what must hold."""

from dataclasses import dataclass
from typing import Any, Final

from playwright.sync_api import Page

from tests.browser.chromium import violations
from tests.browser.conftest import DESK, PHONE, TABLET


@dataclass(frozen=True)
class Look:
    """One of them; `options` are those of the browser's window."""

    name: str
    options: dict[str, Any]
    right_to_left: bool = False


LOOKS: Final = (
    Look("phone-dark-rtl", {"viewport": PHONE, "color_scheme": "dark"}, right_to_left=True),
    Look("tablet-no-motion", {"viewport": TABLET, "color_scheme": "light", "reduced_motion": "reduce"}),
    Look("desk", {"viewport": DESK, "color_scheme": "light"}),
)


def turn_round(page: Page, look: Look) -> None:
    """Let the page be read from right to left, if that is how it is looked at."""
    if look.right_to_left:
        page.evaluate("document.documentElement.dir = 'rtl'")


def require_usable(page: Page, look: Look) -> None:
    """Fail unless axe finds nothing, and nothing is wider than the window."""
    found = violations(page)
    assert not found, f"{look.name}: {found}"
    width, room = page.evaluate("[Math.ceil(document.scrollingElement.scrollWidth), innerWidth]")
    assert width <= room, f"{look.name}: {width} px are wider than {room} px"
