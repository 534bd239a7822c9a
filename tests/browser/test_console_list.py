"""The list of conversations in a browser: fresh while somebody looks, and there without a script as well."""

import csv

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE, OpenPage
from tests.browser.pages import SAM, Console
from tests.browser.shop import KETTLE, Shop
from tests.browser.watch import Watch


def rows(page: Page) -> Locator:
    return page.locator("[data-row]")


@pytest.fixture
def console(page: Page) -> Console:
    return Console.open(page, "conversations")


def test_a_conversation_that_begins_comes_up_by_itself(console: Console, shop: Shop) -> None:
    expect(console.page.get_by_text("Nothing found.")).to_be_visible()
    shop.say(KETTLE)
    expect(rows(console.page)).to_contain_text("The kettle leaks.")
    expect(rows(console.page)).to_contain_text("49.99 EUR")


def test_whoever_stands_on_a_conversation_stays_there_when_another_comes(
    console: Console, shop: Shop
) -> None:
    shop.say("Hello from the first")
    first = console.page.get_by_role("link", name="Hello from the first")
    first.focus()
    shop.say("Hello from the second")
    expect(rows(console.page)).to_have_count(2)
    expect(first).to_be_focused()


def test_a_list_that_cannot_be_kept_fresh_says_since_when(console: Console, shop: Shop, watch: Watch) -> None:
    page = console.page
    page.context.set_offline(True)
    expect(page.get_by_role("alert")).to_contain_text("What you see is as of then")
    shop.say(KETTLE)
    page.context.set_offline(False)
    expect(rows(page)).to_have_count(1)
    expect(page.locator("#connection")).to_be_hidden()
    watch.take()  # what the browser says of an address that it cannot reach


def test_it_can_be_searched_without_a_script_and_on_a_phone(open_page: OpenPage, shop: Shop) -> None:
    shop.say(KETTLE)
    shop.say("Where is my parcel?")
    console = Console.open(open_page(java_script_enabled=False, viewport=PHONE), "conversations", by=SAM)
    page = console.page
    page.get_by_label("Search").fill("kettle")
    page.get_by_role("button", name="Search").click()
    expect(rows(page)).to_have_count(1)
    page.get_by_role("link", name="The kettle leaks").click()
    expect(page.get_by_role("heading", name="Conversation of")).to_be_visible()


def test_what_is_exported_comes_as_a_file_and_a_reveal_is_recorded(console: Console, shop: Shop) -> None:
    shop.say(KETTLE)
    page = console.page
    page.get_by_text("Export", exact=True).click()
    with page.expect_download() as hidden:
        page.get_by_role("link", name="CSV").click()
    with page.expect_download() as revealed:
        page.get_by_role("button", name="Reveal as CSV").click()
    texts = [one.value.path().read_text() for one in (hidden, revealed)]
    said = [list(csv.DictReader(text.splitlines()))[1]["said"] for text in texts]
    assert said == [f"[{len(KETTLE)} characters]", KETTLE]
    console.go("reveals")
    expect(page.get_by_role("row")).to_have_count(2)
    expect(page.get_by_role("row").last).to_contain_text("Dana (staff)")
