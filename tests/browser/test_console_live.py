"""The console while a turn runs, when the connection breaks, and afterwards: by steps and by keys."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.held import held_completion
from tests.browser.pages import Console
from tests.browser.shop import KETTLE, Shop
from tests.browser.watch import Watch


@contextmanager
def running_turn(shop: Shop, message: str = KETTLE) -> Iterator[tuple[str, Future[Any]]]:
    """Let a turn stand in its second completion until the context closes; give its id."""
    known, asked = {turn["id"] for turn in shop.stand.turns()}, shop.model.request_count
    with ThreadPoolExecutor(1) as pool:
        with held_completion(shop.model, after=1):
            reply = pool.submit(shop.say, message)
            assert shop.model.wait_for_requests(asked + 2)
            (turn_id,) = {turn["id"] for turn in shop.stand.turns()} - known
            yield turn_id, reply
        reply.result()


@pytest.fixture
def console(page: Page) -> Console:
    return Console.open(page)


def test_a_running_turn_is_seen_as_it_happens_and_to_its_end(console: Console, shop: Shop) -> None:
    page = console.page
    with running_turn(shop) as (turn_id, _):
        console.go(f"turns/{turn_id}")
        thinking = page.locator(".step.open")
        expect(thinking).to_contain_text("Thought, completion 2 of 5")
        bar = thinking.locator("rect")
        before = int(bar.get_attribute("width") or 0)
        expect(bar).not_to_have_attribute("width", str(before))
        assert int(bar.get_attribute("width") or 0) >= before
        page.locator(".step summary").first.click()

    expect(page.locator(".step.of-end")).to_contain_text("Replied")
    expect(page.get_by_role("region", name="Refund")).to_contain_text("49.99 EUR")
    expect(page.locator(".step.open")).to_have_count(0)
    expect(page.locator(".step details[open]")).to_have_count(1)
    expect(page.locator("#announcer")).to_have_text("Replied")
    expect(page.get_by_role("button", name="Next step")).to_be_visible()
    assert shop.moved == [("ORD-1001", 4999)]


def test_a_conversation_shows_a_message_that_comes_while_somebody_looks(console: Console, shop: Shop) -> None:
    conversation_id = shop.say("Hello")["conversation_id"]
    console.go(f"conversations/{conversation_id}")
    shop.say(KETTLE, conversation_id=conversation_id)
    expect(console.page.get_by_role("list", name="What was said")).to_contain_text("The kettle leaks")
    expect(console.page.locator(".step.of-end").last).to_contain_text("Replied")


def test_a_page_that_finds_nothing_new_stays_as_it_is(console: Console, shop: Shop) -> None:
    page = console.page
    console.go(f"conversations/{shop.say('Hello')['conversation_id']}")
    with page.expect_response(lambda answer: answer.status == HTTPStatus.NOT_MODIFIED):
        pass
    expect(page.locator(".step.of-end")).to_contain_text("Replied")


def test_whoever_loses_the_connection_is_told_since_when_and_sees_the_rest_once_it_is_back(
    console: Console, shop: Shop, watch: Watch
) -> None:
    page = console.page
    banner = page.locator("#connection")
    with running_turn(shop) as (turn_id, _):
        console.go(f"turns/{turn_id}")
        expect(page.locator(".step.open")).to_be_visible()
        expect(banner).to_be_hidden()
        page.context.set_offline(True)
        expect(banner).to_contain_text("since")
    page.context.set_offline(False)

    expect(page.locator(".step.of-end")).to_contain_text("Replied")
    expect(banner).to_be_hidden()
    watch.take()  # the browser logs each request that found no network


def test_an_ended_turn_is_stepped_through_by_button_and_by_arrow(console: Console, shop: Shop) -> None:
    page = console.page
    console.go(f"turns/{shop.say(KETTLE)['turn_id']}")
    place = page.locator("[data-step-place]")

    page.get_by_role("button", name="Next step").click()
    expect(place).to_contain_text("Step 1 of")
    page.keyboard.press("ArrowRight")
    expect(place).to_contain_text("Step 2 of")
    expect(page.locator(".step.current")).to_contain_text("completion 1 of 5")
    expect(page.locator(".step.current details")).to_have_attribute("open", "")
    page.keyboard.press("ArrowLeft")
    expect(place).to_contain_text("Step 1 of")


def test_the_keyboard_moves_opens_helps_and_goes_places_and_never_while_somebody_types(
    console: Console, shop: Shop
) -> None:
    page = console.page
    asked = shop.say(KETTLE)
    console.go(f"turns/{asked['turn_id']}")

    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("o")
    expect(page.locator(".step details[open]")).to_contain_text("Tokens")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/console/stuck")

    console.go(f"conversations/{asked['conversation_id']}")
    page.get_by_role("button", name="Take over").click()
    field = page.get_by_label("Write to the customer")
    field.press_sequentially("gsj?o/")
    expect(field).to_have_value("gsj?o/")


def test_a_person_takes_over_writes_and_gives_back(console: Console, shop: Shop) -> None:
    page = console.page
    conversation_id = shop.say("Hello")["conversation_id"]
    console.go(f"conversations/{conversation_id}")
    page.get_by_role("button", name="Take over").click()
    page.get_by_label("Write to the customer").fill("I am looking into it.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("list", name="What was said")).to_contain_text("I am looking into it.")
    page.get_by_role("button", name="Give back to the assistant").click()
    expect(page.get_by_text("The assistant answers", exact=True)).to_be_visible()


def test_everything_can_be_read_without_a_script(open_page: OpenPage, shop: Shop) -> None:
    asked = shop.say(KETTLE)
    page = Console.open(open_page(java_script_enabled=False)).page
    for path in (f"turns/{asked['turn_id']}", f"conversations/{asked['conversation_id']}"):
        page.goto(f"/console/{path}")
        expect(page.get_by_text("Asked payments: paid")).to_be_visible()
        expect(page.get_by_role("button", name="Next step")).to_be_hidden()
