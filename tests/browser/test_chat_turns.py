"""The customer's chat while a message is on its way: phases, endings, and never a second refund."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.browser.conftest import OpenPage
from tests.browser.held import held_completion, held_requests
from tests.browser.pages import Chat
from tests.browser.shop import ADA, BEN, KETTLE, STAFF, Shop
from tests.browser.watch import Watch

PAID = [("ORD-1001", 4999)]
POST = "**/support/chat"
CUTTABLE = """
const fetched = window.fetch;
const connections = new AbortController();
window.cutConnections = () => connections.abort();
window.fetch = (path, options) =>
  fetched(path, { ...options, signal: window.isCut ? undefined : connections.signal });
"""
LOOK_NOW = "document.dispatchEvent(new Event('visibilitychange'))"
REMEMBER_LINES = """
() => {
  window.said = [];
  const log = document.querySelector("refund-chat").shadowRoot.querySelector("[role=log]");
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) said.push(...[...addedNodes].map((line) => line.className));
  }).observe(log, { childList: true });
}
"""
REMEMBER_STATUS = """
() => {
  window.statuses = [];
  const status = document.querySelector("refund-chat").shadowRoot.querySelector("[role=status]");
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) statuses.push(...[...addedNodes].map((node) => node.textContent));
  }).observe(status, { childList: true });
}
"""


def card_of(chat: Chat) -> list[str]:
    expect(chat.cards).to_have_count(1)
    return list(filter(None, chat.cards.inner_text().split("\n")))


def posts(page: Page) -> list[tuple[str, str]]:
    """Return a list that will hold key and body of every message that the page sends."""
    sent: list[tuple[str, str]] = []

    def note(request: Request) -> None:
        if request.method == "POST" and request.url.endswith("/support/chat"):
            sent.append((request.headers["idempotency-key"], request.post_data or ""))

    page.on("request", note)
    return sent


def refusal(status: int, kind: str, **headers: str) -> Callable[[Route], None]:
    problem = json.dumps({"type": f"urn:refund-agent:problem:{kind}", "status": status, "turn_id": None})
    return lambda route: route.fulfill(
        status=status, headers=headers, content_type="application/problem+json", body=problem
    )


# --- Endings --------------------------------------------------------------------------------------


def test_a_refund_is_shown_from_the_ledger_in_the_orders_currency(page: Page, shop: Shop) -> None:
    chat = Chat.open(page)
    chat.say(KETTLE)

    expect(chat.cards).to_be_visible()
    gate = shop.stand.gate(shop.turns()[0]["id"]) or {}
    assert card_of(chat) == ["Refund sent", "€49.99", "Order", "ORD-1001", "Reference", gate["refund_id"]]
    assert shop.moved == PAID


def test_a_card_says_what_became_of_the_refund_and_the_reply_beside_it_does_not(
    page: Page, shop: Shop
) -> None:
    chat = Chat.open(page)
    page.evaluate(REMEMBER_LINES)
    chat.say(KETTLE)

    expect(chat.cards).to_be_visible()
    expect(chat.status).to_have_text("")
    (reply,) = (line for line in shop.lines(by=ADA) if line["kind"] == "reply")
    assert reply["text"].startswith(f"{reply['words']}\n\nRefund sent: 49.99 EUR for order ORD-1001.")
    expect(chat.log.locator("[part~=agent] [part~=text]")).to_have_text(reply["words"])
    with page.expect_response("**/support/conversations/*"):
        page.evaluate(LOOK_NOW)
    expect(chat.log.locator("[part~=agent] [part~=text]")).to_have_text(reply["words"])
    assert page.evaluate("said").count("line agent") == 1, "it is announced once"


def test_phases_are_those_that_the_turn_went_through(page: Page, shop: Shop) -> None:
    chat = Chat.open(page)
    page.evaluate(REMEMBER_STATUS)
    chat.say(KETTLE)

    expect(chat.cards).to_be_visible()
    seen: list[str] = page.evaluate("statuses")
    phases = [now for before, now in zip(["", *seen], seen, strict=False) if now != before]
    asking = phases.index("Asking payments")
    assert phases[0] == "Sending"
    assert {"Thinking", "Checking your order"} <= set(phases[:asking])
    assert set(phases) <= {
        *("Sending", "Working on it", "In the queue", "Thinking", "Checking your order", "Asking payments")
    }


def test_a_denial_shows_no_card_and_never_asks_payments(page: Page, shop: Shop) -> None:
    chat = Chat.open(page)
    page.evaluate(REMEMBER_STATUS)
    chat.say("I want to return ORD-1003, 89.00 please.")

    chat.reads("The return window is closed")
    expect(chat.cards).to_have_count(0)
    assert "Asking payments" not in page.evaluate("statuses")
    assert shop.moved == []


def test_a_lost_answer_is_shown_as_not_certain_and_a_person_checks(page: Page, shop: Shop) -> None:
    shop.payments.will("accept-then-drop")
    chat = Chat.open(page)
    chat.say(KETTLE)

    chat.reads("A person is checking")
    assert card_of(chat)[:2] == ["We are not sure yet", "€49.99"]
    assert shop.moved == PAID


def test_a_turn_without_a_reply_says_that_no_refund_was_made_and_can_be_asked_again(
    page: Page, shop: Shop
) -> None:
    chat = Chat.open(page)
    chat.say("[http-500] refund 49.99 for ORD-1001")

    chat.reads("This message got no reply. No refund was made with it, and none will be.")
    page.get_by_role("button", name="Ask again").click()
    expect(chat.box).to_have_value("[http-500] refund 49.99 for ORD-1001")
    assert shop.moved == []


def test_after_a_while_it_says_that_it_still_works_and_the_late_reply_arrives(page: Page, shop: Shop) -> None:
    page.clock.install()
    chat = Chat.open(page)
    with held_completion(shop.model):
        chat.say("Hello")
        expect(chat.status).to_have_text("Thinking")
        page.clock.fast_forward(21_000)
        expect(chat.status).to_have_text("Still working. The reply will come here.")

    chat.reads("Hello! I can look up your orders")
    expect(chat.status).to_have_text("")


# --- Never twice ----------------------------------------------------------------------------------


def test_a_reload_in_the_middle_of_a_turn_joins_it_and_money_moves_once(page: Page, shop: Shop) -> None:
    chat = Chat.open(page)
    sent = posts(page)
    with held_completion(shop.model, after=1):
        chat.say(KETTLE)
        expect(chat.status).to_have_text("Thinking")
        page.reload()
        expect(chat.log).to_contain_text(KETTLE)
        expect(chat.status).to_have_text("Thinking")
        expect(chat.log.get_by_text(KETTLE)).to_have_count(1)

    expect(chat.cards).to_have_count(1)
    assert len(sent) == 1, "what is known to run is watched, not asked for again"
    assert (len(shop.turns()), shop.moved) == (1, PAID)


@pytest.mark.fault(31)
def test_a_reload_before_anything_came_back_asks_again_under_the_same_key(page: Page, shop: Shop) -> None:
    chat = Chat.open(page)
    sent = posts(page)
    page.route(POST, lambda route: route.fetch() and page.reload(), times=1)
    chat.say(KETTLE)

    expect(chat.cards).to_have_count(1)
    assert len(sent) == 2
    assert len(set(sent)) == 1, "the same key and the same body"
    assert (len(shop.turns()), shop.moved) == (1, PAID)


def test_a_message_whose_answer_was_lost_is_asked_for_again_under_its_key(page: Page, shop: Shop) -> None:
    chat = Chat.open(page)
    sent = posts(page)

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route(POST, lose, times=1)
    chat.say(KETTLE)

    expect(chat.cards).to_have_count(1)
    assert len(sent) == 2
    assert len(set(sent)) == 1
    assert (len(shop.turns()), shop.moved) == (1, PAID)


def test_a_cut_stream_says_so_and_goes_on_where_it_was(page: Page, shop: Shop) -> None:
    page.add_init_script(CUTTABLE)
    chat = Chat.open(page)
    sent = posts(page)
    with held_completion(shop.model, after=1):
        chat.say(KETTLE)
        expect(chat.status).to_have_text("Thinking")
        page.context.set_offline(True)
        page.evaluate("window.isCut = true; cutConnections()")
        expect(chat.trouble).to_contain_text("No connection. Trying again; your message is never sent twice.")
        page.context.set_offline(False)
        expect(chat.status).to_have_text("Thinking")

    expect(chat.cards).to_have_count(1)
    assert (len(sent), shop.moved) == (1, PAID)


def test_a_chat_taken_off_the_page_leaves_its_stream_and_goes_on_when_it_is_put_back(
    page: Page, shop: Shop
) -> None:
    chat = Chat.open(page)
    sent = posts(page)
    with held_completion(shop.model, after=1):
        chat.say(KETTLE)
        expect(chat.status).to_have_text("Thinking")
        with page.expect_event("requestfailed"):
            page.evaluate("(window.taken = document.querySelector('refund-chat')).remove()")
        page.evaluate("document.querySelector('.chat').append(taken)")
        expect(chat.status).to_have_text("Thinking")

    expect(chat.cards).to_have_count(1)
    assert (len(sent), shop.moved) == (1, PAID)


def test_nothing_is_kept_once_the_ending_was_shown(page: Page) -> None:
    chat = Chat.open(page)
    chat.say("Hello")
    chat.reads("Hello! I can look up your orders")
    page.reload()
    chat.reads("Hello! I can look up your orders")

    kept: dict[str, str] = page.evaluate("({ ...sessionStorage, ...localStorage })")
    assert set(kept) <= {"dev-customer"}


def test_another_customer_of_the_same_browser_sends_nothing_of_the_first_ones(page: Page, shop: Shop) -> None:
    chat = Chat.open(page)
    page.route(POST, refusal(503, "no-room"))
    chat.say(KETTLE)
    expect(chat.trouble).to_contain_text("It was not sent.")
    page.unroute(POST)
    page.get_by_label("Customer").select_option("cust-ben")
    expect(page.get_by_text("Coffee grinder")).to_be_visible()

    expect(chat.log).not_to_contain_text("kettle")
    assert shop.turns() == []


def test_the_next_customer_never_sees_the_first_ones_words_or_orders(page: Page, shop: Shop) -> None:
    shop.say("Where is my mirror?", by=BEN)
    chat = Chat.open(page, by=BEN)
    chat.reads("Where is my mirror?")
    held = held_requests(page, "**/dev/token")
    with page.expect_request("**/dev/token"):
        page.get_by_label("Customer").select_option(ADA)
    expect(chat.log).to_be_empty()

    held.pop().continue_()
    expect(page.get_by_text("Electric kettle")).to_be_visible()
    page.get_by_label("Customer").select_option(BEN)
    expect(page.get_by_text("Electric kettle")).to_be_hidden()


# --- What is not taken ----------------------------------------------------------------------------

BUSY = "An earlier message is still being answered. It was not sent."
NOT_NOW = "We cannot take the message now. It was not sent."


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (409, "conversation-busy", BUSY),
        (429, "too-fast", NOT_NOW),
        (429, "tokens-used-up", NOT_NOW),
        (503, "no-room", NOT_NOW),
        (503, "not-queued", NOT_NOW),
        (500, "internal-error", "A mistake of ours. Trying again is safe."),
    ],
)
def test_a_refusal_is_clear_and_trying_again_is_the_same_request(
    page: Page, shop: Shop, status: int, kind: str, words: str
) -> None:
    chat = Chat.open(page)
    sent = posts(page)
    page.route(POST, refusal(status, kind), times=1)
    chat.say(KETTLE)
    expect(chat.trouble).to_have_text(words)
    expect(chat.retry).to_be_in_viewport(ratio=1)
    chat.retry.click()

    expect(chat.cards).to_have_count(1)
    assert len(sent) == 2
    assert len(set(sent)) == 1
    assert shop.moved == PAID


def test_a_refusal_says_when_to_try_again_and_does_nothing_before(page: Page, shop: Shop) -> None:
    page.clock.install()
    chat = Chat.open(page)
    sent = posts(page)
    page.route(POST, refusal(429, "too-fast", **{"Retry-After": "40"}), times=1)
    chat.say(KETTLE)
    expect(chat.retry).to_have_text("Try again in 40 s")
    chat.retry.dispatch_event("click")
    page.reload()
    expect(chat.retry).to_contain_text("Try again in")
    assert (len(sent), shop.turns()) == (1, [])
    page.clock.fast_forward(41_000)
    expect(chat.retry).to_have_text("Try again")
    chat.retry.click()

    expect(chat.cards).to_have_count(1)
    assert shop.moved == PAID


def test_what_was_not_taken_can_be_edited_and_what_may_have_been_cannot(page: Page, shop: Shop) -> None:
    chat = Chat.open(page)
    page.route(POST, refusal(503, "no-room"), times=1)
    chat.say(KETTLE)
    page.get_by_role("button", name="Edit").click()
    expect(chat.box).to_have_value(KETTLE)
    page.route(POST, refusal(500, "internal-error"), times=1)
    chat.say(KETTLE)
    expect(chat.trouble).to_be_visible()

    expect(page.get_by_role("button", name="Edit")).to_be_hidden()
    assert shop.turns() == []


def test_a_full_conversation_leads_to_a_new_one(page: Page, shop: Shop) -> None:
    first = shop.say("Hello")["conversation_id"]
    chat = Chat.open(page)
    page.route(POST, refusal(429, "conversation-full"), times=1)
    chat.say("And another thing")
    expect(chat.trouble).to_contain_text("This conversation is full")
    page.get_by_role("button", name="Edit").click()
    page.get_by_role("button", name="Send", exact=True).click()

    chat.reads("I can look up your orders, refund one")
    assert {turn["conversation_id"] == first for turn in shop.turns()} == {True, False}


def test_where_streams_are_full_the_reply_comes_all_the_same(page: Page, shop: Shop) -> None:
    chat = Chat.open(page)
    page.route(POST, refusal(503, "streams-full"), times=1)
    chat.say(KETTLE)

    expect(chat.cards).to_have_count(1)
    assert shop.moved == PAID


# --- Other ends of the conversation ---------------------------------------------------------------


def test_a_message_from_another_device_is_watched_here_and_keeps_the_second_one_back(
    open_page: OpenPage, shop: Shop
) -> None:
    desk, phone = Chat.open(open_page()), Chat.open(open_page())
    with held_completion(shop.model):
        desk.say(KETTLE)
        expect(desk.status).to_have_text("Thinking")
        phone.page.reload()
        expect(phone.status).to_have_text("Thinking")
        phone.box.fill("Me too: refund 49.99 for ORD-1001.")
        phone.box.press("Enter")
        expect(phone.box).to_have_value("Me too: refund 49.99 for ORD-1001.")

    for chat in (desk, phone):
        expect(chat.cards).to_have_count(1)
    assert (len(shop.turns()), shop.moved) == (1, PAID)


def test_a_person_takes_over_and_gives_back_and_their_words_come_by_themselves(
    page: Page, shop: Shop
) -> None:
    chat = Chat.open(page)
    chat.say("I want to talk to a person")
    expect(page.get_by_text("You are talking with a colleague")).to_be_visible()
    chat.reads("A colleague takes over.")
    chat.say("Are you there?")
    expect(chat.log.get_by_text("Are you there?")).to_have_count(1)
    (conversation,) = shop.get("/support/conversations", by=ADA)["conversations"]
    path = f"/support/conversations/{conversation['conversation_id']}"
    shop.post(f"{path}/messages", {"text": "Hello, this is Dana."}, by=STAFF)
    chat.reads("Hello, this is Dana.")
    shop.post(f"{path}/give-back", by=STAFF)

    chat.reads("The assistant answers again.")
    expect(page.get_by_text("You are talking with a colleague")).to_have_count(0)
    expect(chat.log.get_by_text("Are you there?")).to_have_count(1)
    assert len(shop.turns()) == 1, "the agent was silent meanwhile"


def test_the_history_is_there_on_another_device_with_its_cards(page: Page, shop: Shop) -> None:
    shop.say(KETTLE)
    chat = Chat.open(page)

    expect(chat.log.locator("time")).to_have_count(2)
    expect(chat.cards).to_contain_text("€49.99")


def test_while_orders_cannot_be_asked_a_card_shows_the_bare_figure(page: Page, shop: Shop) -> None:
    shop.say(KETTLE)
    page.route("**/support/orders", refusal(503, "not-readable"))
    chat = Chat.open(page)
    expect(chat.amount).to_have_text("49.99")
    page.unroute("**/support/orders")
    chat.say("Hello")

    expect(chat.amount).to_have_text("€49.99")


# --- Tokens ---------------------------------------------------------------------------------------


def test_a_fresh_token_is_asked_for_when_one_is_refused_and_none_is_ever_kept(
    page: Page, shop: Shop, watch: Watch
) -> None:
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    chat = Chat.open(page)
    page.evaluate(
        """(token) => {
          window.asked = 0;
          document.querySelector("refund-chat").token = async () => (window.asked++ ? token : "stale");
        }""",
        token := shop.token(ADA),
    )
    expect(chat.welcome).to_be_visible()
    chat.say("Hello")
    chat.reads("Hello! I can look up your orders")

    assert page.evaluate("asked") == 2
    kept = page.evaluate("JSON.stringify([sessionStorage, localStorage, document.cookie])")
    assert token not in kept
    assert not [url for url in urls if token in url]


def test_without_a_token_it_says_to_sign_in_and_goes_on_when_there_is_one(page: Page, shop: Shop) -> None:
    chat = Chat.open(page)
    page.evaluate("document.querySelector('refund-chat').token = async () => window.token")
    expect(chat.trouble).to_have_text("Please sign in again, then try again.")
    page.evaluate("(token) => (window.token = token)", shop.token(BEN))
    chat.retry.click()

    expect(page.get_by_text("Coffee grinder")).to_be_visible()
