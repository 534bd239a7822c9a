"""Whatever customers, models and shops write stays text, on every page that shows it."""

import json
import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from refund_agent.adapters.sql_orders import SqlOrders
from refund_agent.adapters.sql_seeds import SqlSeeds
from refund_agent.orders import Profile
from sandbox.model import call, calls, says
from tests.browser.conftest import OpenPage
from tests.browser.hostile_text import HOSTILE, assert_is_text
from tests.browser.pages import Chat, Console
from tests.browser.shop import CHEN, Shop


@pytest.fixture
def conversation_id(shop: Shop) -> str:
    """Let a customer say every hostile text, and the model answer with it."""
    conversation_id = ""
    for text in HOSTILE:
        shop.model.will(says(f"You said: {text}"))
        conversation_id = shop.say(text, conversation_id=conversation_id)["conversation_id"]
    return conversation_id


def lines(shop: Shop, conversation_id: str, *, by: str) -> list[str]:
    """Return what was said, as the service has it: a reply may have been corrected."""
    found = shop.get(f"/support/conversations/{conversation_id}", by=by)
    return [line["text"] for line in found["messages"]]


def test_what_customer_and_model_say_is_text_in_the_chat(
    open_page: OpenPage, shop: Shop, conversation_id: str
) -> None:
    chat = Chat.open(open_page())

    said = lines(shop, conversation_id, by="cust-ada")
    assert len(said) == 2 * len(HOSTILE)
    for text in said:
        assert_is_text(chat.log, text)


def test_what_an_order_is_called_is_text_in_the_chat(open_page: OpenPage, shop: Shop) -> None:
    database = shop.stand.database
    coat = SqlOrders(database).find(CHEN, "ORD-3001")
    assert coat is not None
    named = [replace(coat, id=f"X{n}", title=text) for n, text in enumerate(HOSTILE)]
    SqlSeeds(database).put([Profile(CHEN, "Chen Wei", "")], named)

    chat = Chat.open(open_page(), by=CHEN)
    chat.page.get_by_text(re.compile("more$")).click()

    for text in HOSTILE:
        assert_is_text(chat.page.locator("refund-chat"), text)


def test_what_customer_and_model_say_is_text_in_the_console(
    open_page: OpenPage, shop: Shop, conversation_id: str
) -> None:
    console = Console.open(open_page(), f"conversations/{conversation_id}")

    for text in lines(shop, conversation_id, by="dev-staff"):
        assert_is_text(console.page.get_by_role("main"), text)


def test_what_the_model_asks_its_tools_is_text_in_the_console(open_page: OpenPage, shop: Shop) -> None:
    for text in HOSTILE[::4]:
        shop.model.will(calls(call("get_order", {"order_id": text})), says("Thank you."))
        turn_id = shop.say("Where is my order?")["turn_id"]

        console = Console.open(open_page(), f"turns/{turn_id}")

        as_json = json.dumps(text, ensure_ascii=False)
        assert_is_text(console.page.get_by_role("main"), as_json)


@pytest.mark.parametrize("text", HOSTILE[:3])
def test_what_staff_search_for_is_text(open_page: OpenPage, shop: Shop, text: str) -> None:
    console = Console.open(open_page(), "conversations")
    console.page.get_by_role("searchbox").fill(text)
    console.page.get_by_role("searchbox").press("Enter")

    expect(console.page.get_by_role("searchbox")).to_have_value(text)
    expect(console.page.locator("[data-injected]")).to_have_count(0)
