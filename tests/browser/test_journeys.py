"""Whole ways through both pages, and at the end of each: what payments moved, and what the ledger says."""

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.held import held_completion
from tests.browser.pages import Chat, Console
from tests.browser.screens import screen
from tests.browser.shop import ADA, KETTLE, Shop

CHAIR = "Please refund 500.01 for ORD-1005."


def test_a_whole_refund(open_page: OpenPage, shop: Shop) -> None:
    chat = Chat.open(open_page())

    chat.say(KETTLE)

    expect(chat.cards).to_contain_text("Refund sent")
    expect(chat.cards).to_contain_text("€49.99")
    expect(chat.cards).to_contain_text("rf_000001")
    screen(chat.page, "chat-refund")
    assert shop.moved == [("ORD-1001", 4999)]
    assert shop.refunds() == {"ORD-1001": "paid"}


def test_a_denial_names_the_rule_and_moves_nothing(open_page: OpenPage, shop: Shop) -> None:
    chat = Chat.open(open_page())

    chat.say("I want to return ORD-1003, 89.00 please.")

    chat.reads("this cannot be refunded: The return window is closed")
    screen(chat.page, "chat-denied")
    expect(chat.cards).to_have_count(0)
    assert shop.moved == []
    assert shop.refunds() == {}


def test_an_escalation_is_approved_in_the_console_and_the_customer_sees_it_happen(
    open_page: OpenPage, shop: Shop
) -> None:
    chat = Chat.open(open_page())
    chat.say(CHAIR)
    chat.reads("Nothing has been sent yet")
    screen(chat.page, "chat-waits")
    assert shop.moved == []

    console = Console.open(open_page(), "approvals")
    console.decide("ORD-1005", "Approve", because="Seen the photos.")

    expect(chat.cards).to_contain_text("€500.01")
    screen(chat.page, "chat-approved")
    assert shop.moved == [("ORD-1005", 50001)]
    assert shop.refunds() == {"ORD-1005": "paid"}


def test_a_declined_escalation_tells_the_customer_why(open_page: OpenPage, shop: Shop) -> None:
    chat = Chat.open(open_page())
    chat.say(CHAIR)
    chat.reads("Nothing has been sent yet")

    Console.open(open_page(), "approvals").decide(
        "ORD-1005", "Decline", because="The chair was not sent back."
    )

    chat.reads("The chair was not sent back.")
    expect(chat.cards).to_have_count(0)
    assert shop.moved == []


def test_an_unknown_outcome_is_resolved_in_the_console_and_the_customer_sees_it(
    open_page: OpenPage, shop: Shop
) -> None:
    shop.payments.will("accept-then-drop")
    chat = Chat.open(open_page())
    chat.say(KETTLE)
    expect(chat.cards).to_contain_text("We are not sure yet")
    screen(chat.page, "chat-unknown")
    assert shop.refunds() == {"ORD-1001": "unknown"}

    console = Console.open(open_page(), "unknown")
    console.say_it_moved("ORD-1001", reference="rf_000001")

    expect(chat.cards).to_contain_text("Refund sent")
    assert shop.moved == [("ORD-1001", 4999)], "saving the answer sends nothing"
    assert shop.payments.request_count == 1


def test_a_reload_in_the_middle_of_a_turn_goes_on_with_it_and_sends_once(
    open_page: OpenPage, shop: Shop
) -> None:
    chat = Chat.open(open_page())
    with held_completion(shop.model):
        chat.say(KETTLE)
        expect(chat.status).to_contain_text("Thinking")
        screen(chat.page, "chat-thinking")
        chat.page.reload()
        expect(chat.log).to_contain_text(KETTLE)

    expect(chat.cards).to_contain_text("Refund sent")
    assert shop.moved == [("ORD-1001", 4999)]
    assert len(shop.turns()) == 1


def test_two_tabs_show_one_conversation_and_ask_for_one_refund(open_page: OpenPage, shop: Shop) -> None:
    first = Chat.open(open_page())
    first.say("Hello")
    first.reads("I can look up your orders")
    second = Chat.open(first.page.context.new_page())
    second.reads("I can look up your orders")
    # The second tab does not get round to looking before its customer presses.
    stale = shop.get(f"/support/conversations/{shop.turns()[0]['conversation_id']}", by=ADA)
    second.page.route("**/support/conversations/*", lambda route: route.fulfill(json=stale))

    with held_completion(shop.model):
        first.say(KETTLE)
        expect(first.status).to_contain_text("Thinking")
        second.say(KETTLE)
        expect(second.page.get_by_role("alert").first).to_contain_text("It was not sent")

    expect(first.cards).to_contain_text("Refund sent")
    second.page.unroute("**/support/conversations/*")
    second.page.reload()
    expect(second.cards).to_contain_text("Refund sent")
    assert shop.moved == [("ORD-1001", 4999)]
