"""The queues in a browser: fresh by themselves, while nobody's work is disturbed or silently made useless."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.chromium import violations
from tests.browser.conftest import OpenPage
from tests.browser.held import held_requests
from tests.browser.pages import ROBIN, Console
from tests.browser.shop import BEN, CHEN, Shop
from tests.browser.watch import Watch
from tests.functional.stand import wait_until

CHAIR = "Please refund 500.01 for ORD-1005."
SOFA = "Please refund 1400.00 for ORD-3002."


def lose(shop: Shop) -> None:
    """Let the answer about Ben's refund be lost."""
    shop.payments.will("accept-then-drop")
    shop.say("The lid of ORD-2002 came broken. Give me 40.00 back.", by=BEN)


def count_of(page: Page, place: str) -> Locator:
    return page.get_by_role("navigation", name="Console").get_by_role("link", name=place).locator(".count")


@pytest.fixture
def approvals(page: Page, shop: Shop) -> Console:
    """Dana looks at the approvals, of which there are two."""
    shop.say(CHAIR)
    shop.say(SOFA, by=CHEN)
    console = Console.open(page, "approvals")
    expect(console.waiting("ORD-3002")).to_be_visible()
    return console


@pytest.fixture
def robin(open_page: OpenPage, approvals: Console) -> Console:
    """Somebody else, at the same time."""
    return Console.open(open_page(), "approvals", by=ROBIN)


def test_a_request_that_comes_appears_in_the_queue_and_in_the_navigation(page: Page, shop: Shop) -> None:
    console = Console.open(page, "approvals")
    expect(page.get_by_text("Nothing waits for a decision.")).to_be_visible()
    expect(count_of(page, "Approvals")).to_have_count(0)

    shop.say(CHAIR)

    expect(console.waiting("ORD-1005")).to_be_visible()
    expect(count_of(page, "Approvals")).to_have_text("1 waiting")


def test_a_refund_that_is_lost_appears_in_the_queue_and_in_the_navigation(page: Page, shop: Shop) -> None:
    console = Console.open(page, "unknown")
    expect(count_of(page, "Unknown refunds")).to_have_text("1 waiting")
    lose(shop)
    expect(console.waiting("ORD-2002")).to_be_visible()
    expect(count_of(page, "Unknown refunds")).to_have_text("2 waiting")


@pytest.mark.parametrize("path", ["conversations", "overview", "stuck"])
def test_what_waits_is_counted_on_a_page_that_is_looked_at_again(page: Page, shop: Shop, path: str) -> None:
    Console.open(page, path)
    lose(shop)
    # The overview looks again after fifteen seconds.
    expect(count_of(page, "Unknown refunds")).to_have_text("2 waiting", timeout=25_000)


def test_what_waits_is_counted_in_a_conversation_in_which_nothing_happens(page: Page, shop: Shop) -> None:
    Console.open(page, f"conversations/{shop.say('Hello')['conversation_id']}")
    expect(page.get_by_role("list", name="What was said")).to_be_visible()
    lose(shop)
    expect(count_of(page, "Unknown refunds")).to_have_text("2 waiting")


def test_whoever_writes_keeps_words_caret_and_focus_while_others_come_and_go(
    approvals: Console, robin: Console, shop: Shop
) -> None:
    reason = approvals.waiting("ORD-3002").get_by_label("Reason")
    reason.press_sequentially("I saw photos")
    for _ in "photos":
        reason.press("ArrowLeft")

    robin.decide("ORD-1005", "Decline", because="Used goods.")
    expect(approvals.waiting("ORD-1005")).to_contain_text("declined it at")
    reason.press_sequentially("the ")

    expect(reason).to_be_focused()
    expect(reason).to_have_value("I saw the photos")
    approvals.waiting("ORD-3002").get_by_role("button", name="Approve").click()
    expect(approvals.page.get_by_role("status").filter(has_text="ORD-3002")).to_contain_text("Approved")
    wait_until(lambda: shop.refunds() == {"ORD-3002": "paid"})


def test_what_another_decides_is_marked_under_the_hands_of_whoever_fills_it_in(
    approvals: Console, robin: Console, shop: Shop
) -> None:
    page, card = approvals.page, approvals.waiting("ORD-1005")
    reason = card.get_by_label("Reason")
    reason.press_sequentially("I would say yes")

    robin.decide("ORD-1005", "Decline", because="Used goods.")

    expect(card).to_contain_text("dev-staff-2 declined it at")
    expect(card).to_contain_text("Used goods. What you wrote here will not be sent.")
    expect(page.locator("#announcer")).to_contain_text("declined it at")
    expect(reason).to_be_focused()
    expect(reason).to_have_value("I would say yes")
    assert violations(page) == []
    button = card.get_by_role("button", name="Approve")
    expect(button).to_be_disabled()
    button.click(force=True)
    expect(reason).to_have_value("I would say yes")
    assert page.url.endswith("/console/approvals"), "nothing was sent"
    assert shop.moved == []


def test_what_is_decided_stays_while_it_is_in_hand_and_goes_when_it_is_not(
    approvals: Console, robin: Console
) -> None:
    page, card = approvals.page, approvals.waiting("ORD-1005")
    page.clock.install()
    approvals.go("approvals")
    card.get_by_label("Reason").fill("I would say yes")

    robin.decide("ORD-1005", "Decline", because="Used goods.")
    expect(card).to_contain_text("declined it at")
    with page.expect_response("**/approvals?held=*"):
        page.clock.fast_forward(70_000)
    expect(card.get_by_label("Reason")).to_have_value("I would say yes")

    card.get_by_label("Reason").fill("")
    page.get_by_role("heading", name="Approvals").click()
    page.clock.fast_forward(5_000)
    expect(card).to_have_count(0)
    expect(approvals.waiting("ORD-3002")).to_be_visible()


def test_an_open_detail_stays_open_and_an_answer_of_another_is_marked(
    page: Page, open_page: OpenPage, shop: Shop
) -> None:
    shop.payments.will("503-html")
    shop.say("The lid of ORD-2002 came broken. Give me 40.00 back.", by=BEN)
    console, robin = Console.open(page, "unknown"), Console.open(open_page(), "unknown", by=ROBIN)
    card = console.waiting("ORD-2002")
    card.get_by_text("What payments answered").click()
    reference = card.get_by_label("Reference at payments")
    reference.press_sequentially("rf_00")

    shop.let_a_minute_pass()
    robin.say_it_did_not("ORD-1012", note="Not in the list.")
    robin.say_it_did_not("ORD-2002", note="Neither is this.")

    expect(card).to_contain_text("dev-staff-2 answered at")
    expect(card).to_contain_text("the money did not move. Neither is this.")
    expect(card.locator("details")).to_have_attribute("open", "")
    expect(reference).to_be_focused()
    reference.press("Enter")
    expect(reference).to_have_value("rf_00")
    assert page.url.endswith("/console/unknown"), "nothing was sent"


def test_a_slow_look_is_shown_but_not_to_whoever_is_writing(approvals: Console) -> None:
    page, queue = approvals.page, approvals.page.locator("#queue")
    held = held_requests(page, "**/console/approvals")
    expect(queue).to_have_attribute("aria-busy", "true")
    approvals.waiting("ORD-1005").get_by_label("Reason").focus()
    held.pop().continue_()
    expect(queue).not_to_have_attribute("aria-busy", "true")

    with page.expect_request("**/console/approvals"):
        pass
    page.wait_for_timeout(1_500)

    assert len(held) == 1, "it is still waited for"
    assert queue.get_attribute("aria-busy") is None
    held.pop().continue_()


@pytest.mark.parametrize("path", ["approvals", "unknown", "stuck"])
def test_a_queue_that_cannot_be_kept_fresh_says_since_when(
    page: Page, shop: Shop, watch: Watch, path: str
) -> None:
    Console.open(page, path)
    page.context.set_offline(True)
    expect(page.get_by_role("alert")).to_contain_text("What you see is as of then")
    page.context.set_offline(False)
    expect(page.locator("#connection")).to_be_hidden()
    watch.take()  # what the browser says of an address that it cannot reach


def test_the_queues_are_read_and_answered_without_a_script(open_page: OpenPage, shop: Shop) -> None:
    shop.say(CHAIR)
    console = Console.open(open_page(java_script_enabled=False), "approvals")
    console.decide("ORD-1005", "Approve", because="Seen the photos.")
    console.go("unknown")
    shop.let_a_minute_pass()
    console.say_it_did_not("ORD-1012", note="Not in the list.")
    assert shop.moved == [("ORD-1005", 50001)]


def test_the_cards_of_a_queue_are_walked_by_keyboard(page: Page, shop: Shop) -> None:
    lose(shop)
    console = Console.open(page, "unknown")
    expect(console.waiting("ORD-2002")).to_be_visible()
    focused = page.locator("li.card:focus-within h2")

    for key, order in (("j", "ORD-1012"), ("j", "ORD-2002"), ("j", "ORD-2002"), ("k", "ORD-1012")):
        page.keyboard.press(key)
        expect(focused).to_contain_text(order)
