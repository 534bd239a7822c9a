"""The chat on a site of another origin: a script tag, an iframe or a window, and only where it is listed."""

from itertools import chain, repeat

import pytest
from playwright.sync_api import Page, expect

from sandbox.http import Server, serve
from tests.browser.portal import Portal
from tests.browser.shop import ADA, KETTLE, Shop
from tests.browser.watch import Watch


@pytest.fixture
def site(portal: tuple[Portal, str], shop: Shop, watch: Watch) -> str:
    """Give the listed site's address; its customer is Ada."""
    app, url = portal
    app.chat_url, app.token = shop.url, lambda: shop.token(ADA)
    watch.origins.add(url)
    return url


def test_one_script_tag_and_a_token_are_enough_under_a_strict_policy(
    page: Page, shop: Shop, site: str
) -> None:
    page.goto(site)
    page.get_by_role("button", name="Open the chat").click()
    box = page.get_by_role("textbox", name="Your message")
    expect(page.get_by_text("Electric kettle")).to_be_visible()
    box.fill(KETTLE)
    box.press("Enter")

    expect(page.locator("[part~=card]")).to_contain_text("€49.99")
    assert shop.moved == [("ORD-1001", 4999)]


@pytest.mark.parametrize(
    ("lang", "said"), [("de-AT", "Mit dieser Nachricht"), ("zh_Hant", "with this message")]
)
def test_any_language_of_a_site_gets_through_to_the_service(
    page: Page, site: str, lang: str, said: str
) -> None:
    page.goto(site)
    chat = page.locator("refund-chat")
    chat.evaluate("(chat, lang) => chat.setAttribute('lang', lang)", lang)
    chat.evaluate("(chat) => chat.removeAttribute('launcher')")
    box = page.get_by_role("textbox")
    expect(page.get_by_text("Electric kettle")).to_be_visible()
    box.fill("Show me my orders")
    box.press("Enter")

    expect(page.get_by_role("log")).to_contain_text(said)


def test_an_expired_token_is_replaced_by_the_sites_next_one(
    page: Page, shop: Shop, site: str, portal: tuple[Portal, str]
) -> None:
    tokens = chain(["expired"], repeat(shop.token(ADA)))
    portal[0].token = lambda: next(tokens)
    page.goto(site)
    page.get_by_role("button", name="Open the chat").click()

    expect(page.get_by_text("Electric kettle")).to_be_visible()


def test_in_an_iframe_the_site_hands_the_token_over(page: Page, shop: Shop, site: str) -> None:
    page.goto(f"{site}/framed")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("heading", name="Wie können wir helfen?")).to_be_visible()
    box = frame.get_by_role("textbox", name="Ihre Nachricht")
    box.fill(KETTLE)
    box.press("Enter")

    expect(frame.locator("[part~=card]")).to_contain_text("Erstattung gesendet")
    assert shop.moved == [("ORD-1001", 4999)]
    assert page.evaluate(
        "heard.every((type) => type === 'refund-chat-token' || type === 'refund-chat-unread')"
    )


def test_a_window_that_the_site_opened_gets_its_token_from_there(page: Page, site: str) -> None:
    page.goto(f"{site}/opens")
    with page.expect_popup() as popup:
        page.get_by_role("button", name="Open the chat").click()

    expect(popup.value.get_by_text("Electric kettle")).to_be_visible()
    assert "token" not in popup.value.url


def test_opened_by_nobody_it_says_where_it_belongs(page: Page) -> None:
    page.goto("/chat/embed")

    expect(page.get_by_text("Please sign in there and open the chat from there.")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_count(0)


# --- A site that is not listed ----------------------------------------------------------------------


@pytest.fixture
def stranger(shop: Shop, watch: Watch) -> Server:
    """Give a site that CHAT_ORIGINS does not name, with a customer's real token in its hands."""
    app = Portal()
    app.chat_url, app.token = shop.url, lambda: shop.token(ADA)
    return serve(app)


@pytest.mark.fault(54)
def test_a_site_that_is_not_listed_reads_nothing_even_with_a_token(
    page: Page, shop: Shop, stranger: Server, watch: Watch
) -> None:
    with stranger:
        watch.origins.add(stranger.url)
        page.goto(stranger.url)
        page.get_by_role("button", name="Open the chat").click()
        expect(page.get_by_role("alert")).to_have_text("We cannot be reached now. Trying again.")

        assert page.get_by_text("Electric kettle").count() == 0
        assert all("blocked by CORS policy" in found for found in watch.take())


def test_a_site_that_is_not_listed_cannot_frame_the_chat(page: Page, stranger: Server, watch: Watch) -> None:
    with stranger:
        watch.origins.add(stranger.url)
        with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
            page.goto(f"{stranger.url}/framed")

        assert all("frame-ancestors" in found for found in watch.take())
