"""Each page in each state is for everybody: on a phone, in the dark, from right to left, without motion.

axe finds nothing, and nothing is wider than the window.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import violations
from tests.browser.conftest import DESK, PHONE, TABLET, OpenPage
from tests.browser.pages import SAM, Chat, Console
from tests.browser.screens import screen
from tests.browser.shop import BEN, CHEN, Shop
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


def chat_of(customer: str, *, cards: int) -> State:
    def show(page: Page, story: Story) -> None:
        expect(Chat.open(page, by=customer).cards).to_have_count(cards)

    return show


def console(path: str = "", **who: str) -> State:
    return lambda page, story: Console.open(page, path.format(story=story), **who)


STATES: dict[str, State] = {
    "chat-phone": lambda page, story: Chat.open(page, by=CHEN),
    "chat-phone-unknown": chat_of(BEN, cards=1),
    "chat-phone-with-person": lambda page, story: Chat.open(page).reads("this is Dana"),
    "console-sign-in": lambda page, story: page.goto("/console/"),
    "console-conversations": console("conversations"),
    "console-conversations-none": console("conversations?q=nothing+like+it&outcome=broken&age=hour"),
    "console-messages": console("turns"),
    "console-reveals": console("reveals"),
    "console-nothing": console("nothing-here"),
    "console-approvals": console("approvals"),
    "console-approvals-reader": console("approvals", by=SAM),
    "console-unknown": console("unknown"),
    "console-stuck": console("stuck"),
    "console-overview": console("overview"),
    "console-turn": console("turns/{story.refunded[turn_id]}"),
    "console-turn-unknown": console("turns/{story.unknown[turn_id]}"),
    "console-conversation": console("conversations/{story.denied[conversation_id]}"),
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
        if look.name == ("phone-dark-rtl" if state.startswith("chat") else "desk"):
            screen(page, state, whole=state.startswith("console"))

        assert violations(page) == [], look.name
        width = page.evaluate("Math.ceil(document.scrollingElement.scrollWidth)")
        assert width <= page.evaluate("innerWidth"), look.name
