"""Each page in each state is for everybody: on a phone, in the dark, from right to left, without motion.

axe finds nothing, and nothing is wider than the window.
"""

from collections.abc import Callable
from typing import TypeAlias

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.looks import LOOKS, Look, require_usable, turn_round
from tests.browser.pages import SAM, Chat, Console
from tests.browser.portal import Portal
from tests.browser.screens import screen
from tests.browser.shop import ADA, BEN, CHEN, Shop
from tests.browser.story import Story, tell
from tests.browser.watch import Watch

pytestmark = pytest.mark.timeout(240)  # the checker takes its time with the API's page

State: TypeAlias = Callable[[Page, Story], object]


def chat_of(customer: str, *, cards: int) -> State:
    def show(page: Page, story: Story) -> None:
        expect(Chat.open(page, by=customer).cards).to_have_count(cards)

    return show


def console(path: str = "", **who: str) -> State:
    return lambda page, story: Console.open(page, path.format(story=story), **who)


def api_page(page: Page, story: Story) -> None:
    del story
    page.goto("/docs")
    expect(page.get_by_text("/support/refund-chat", exact=True).first).to_be_visible()


def embed_page(page: Page, story: Story) -> None:
    del story
    page.goto("/chat/embed")
    expect(page.get_by_text("Please sign in there and open the chat from there.")).to_be_visible()


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
    "console-stuck-none": console("stuck"),
    "console-overview": console("overview"),
    "console-turn": console("turns/{story.refunded[turn_id]}"),
    "console-turn-unknown": console("turns/{story.unknown[turn_id]}"),
    "console-conversation": console("conversations/{story.denied[conversation_id]}"),
    "chat-embed-by-nobody": embed_page,
    "docs": api_page,
}
NOT_PICTURED = {"chat-embed-by-nobody", "docs"}


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
        turn_round(page, look)
        pictured = look.name == ("phone-dark-rtl" if state.startswith("chat") else "desk")
        if pictured and state not in NOT_PICTURED:
            screen(page, state, whole=state.startswith("console"))
        require_usable(page, look)


@pytest.fixture
def site(story: Story, running_shop: Shop, portal: tuple[Portal, str], watch: Watch) -> str:
    """Give the address of a site that may open the chat for Ada, who has something to read there."""
    del story
    app, url = portal
    app.chat_url, app.token = running_shop.url, lambda: running_shop.token(ADA)
    watch.origins.add(url)
    return url


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.name)
def test_the_chat_in_a_window_of_another_site_can_be_used_by_anybody(
    open_page: OpenPage, site: str, look: Look
) -> None:
    page = open_page(**look.options)
    page.goto(f"{site}/opens")
    with page.expect_popup() as popup:
        page.get_by_role("button", name="Open the chat").click()
    chat = popup.value
    expect(chat.get_by_role("log")).to_contain_text("this is Dana")

    turn_round(chat, look)

    require_usable(chat, look)
    assert chat.evaluate("innerWidth") == look.options["viewport"]["width"]
