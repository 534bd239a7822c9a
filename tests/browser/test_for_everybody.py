"""Each page in each state is for everybody: on a phone, in the dark, from right to left, without motion.

axe finds nothing, and nothing is wider than the window.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest
from playwright.sync_api import Page

from tests.browser.chromium import violations
from tests.browser.conftest import DESK, PHONE, TABLET, OpenPage
from tests.browser.pages import Console
from tests.browser.screens import screen
from tests.browser.shop import Shop
from tests.browser.story import Story, tell


@dataclass(frozen=True)
class Look:
    """How somebody looks at a page."""

    name: str
    options: dict[str, Any]
    right_to_left: bool = False


LOOKS = [
    Look("phone-dark-rtl", {"viewport": PHONE, "color_scheme": "dark"}, right_to_left=True),
    Look("tablet-no-motion", {"viewport": TABLET, "color_scheme": "light", "reduced_motion": "reduce"}),
    Look("desk", {"viewport": DESK, "color_scheme": "light"}),
]
State: TypeAlias = Callable[[Page, Story], object]


def console(path: str = "", **who: str) -> State:
    return lambda page, story: Console.open(page, path.format(story=story), **who)


STATES: dict[str, State] = {
    "console-sign-in": lambda page, story: page.goto("/console/"),
    "console-stuck": console("stuck"),
}


@pytest.fixture(scope="module")
def story(running_shop: Shop) -> Story:
    """Tell it once: these tests only look."""
    running_shop.begin_anew()
    return tell(running_shop)


@pytest.mark.parametrize("state", STATES)
def test_a_page_can_be_used_by_anybody(open_page: OpenPage, story: Story, state: str) -> None:
    for look in LOOKS:
        page = open_page(**look.options)
        STATES[state](page, story)
        if look.right_to_left:
            page.evaluate("document.documentElement.dir = 'rtl'")
        screen(page, f"{state}-{look.name}")

        assert violations(page) == [], look.name
        width = page.evaluate("Math.ceil(document.scrollingElement.scrollWidth)")
        assert width <= page.evaluate("innerWidth"), look.name
