"""The pages for developers: readable by anybody, in any window, and nothing from elsewhere."""

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.chromium import violations
from tests.browser.conftest import DESK, PHONE, TABLET, OpenPage
from tests.browser.shop import Shop
from tests.functional.stand import TOKEN

WINDOWS = pytest.mark.parametrize("viewport", [PHONE, TABLET, DESK], ids=["320", "768", "1280"])


@WINDOWS
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_demo_page_can_be_used_by_anybody(
    open_page: OpenPage, viewport: ViewportSize, scheme: str
) -> None:
    page = open_page(viewport=viewport, color_scheme=scheme)
    page.goto("/demo")
    expect(page.get_by_role("listitem").first).to_be_visible()

    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_the_demo_page_sends_a_message_and_shows_the_reply(page: Page, shop: Shop) -> None:
    page.goto("/demo")
    page.get_by_text("Portal token").click()
    page.get_by_label("Only if PORTAL_TOKENS is set").fill(TOKEN)
    page.get_by_label("Message").fill("Please refund 49.99 for order SHOP-1001.")
    page.get_by_role("button", name="Send").click()

    expect(page.locator("#answers")).to_contain_text("Your refund of 49.99 has been sent.")
    assert shop.moved == [("SHOP-1001", 4999)]


def test_the_api_page_shows_the_document(page: Page) -> None:
    page.goto("/docs")

    expect(page.get_by_role("heading", name="Refund agent")).to_be_visible()
    expect(page.get_by_text("/support/refund-chat", exact=True).first).to_be_visible()
