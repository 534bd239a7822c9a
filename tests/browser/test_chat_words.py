"""What the chat shows, and in which words: text as text, three languages, any window, a keyboard alone."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sandbox.completions import says
from tests.browser.chromium import violations
from tests.browser.conftest import PHONE, OpenPage
from tests.browser.held import held_completion
from tests.browser.hostile_text import HOSTILE, assert_is_text
from tests.browser.pages import Chat
from tests.browser.shop import ADA, KETTLE, STAFF, Shop

STRINGS = Path("web/static/chat/strings.js").read_text()
TEXTS = """
() => {
  const root = document.querySelector("refund-chat").shadowRoot;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    const { parentElement: element, data } = walker.currentNode;
    const box = element.localName === "slot" ? element.parentElement : element;
    if (data.trim() && box.checkVisibility()) {
      texts.push([element.part.value || element.localName, data]);
    }
  }
  for (const element of root.querySelectorAll("[aria-label], [placeholder]")) {
    texts.push(["attribute", element.ariaLabel ?? element.placeholder]);
  }
  return texts;
}
"""
FOCUSED_PART = "document.querySelector('refund-chat').shadowRoot.activeElement.part.value"
LOOK_NOW = "document.dispatchEvent(new Event('visibilitychange'))"
DATA = {"text", "title", "id", "card-amount", "dd", "time", "span"}
"""Where the shop's and people's own words stand: an order, an amount, what somebody said."""


def set_on_chat(page: Page, name: str, value: str = "") -> None:
    page.evaluate(
        "([name, value]) => document.querySelector('refund-chat').setAttribute(name, value)", [name, value]
    )


# --- Text is text ---------------------------------------------------------------------------------


@pytest.mark.fault(59, 61)
def test_what_staff_the_system_and_payments_say_stays_text(page: Page, shop: Shop) -> None:
    shop.say("Hello")
    lines = [
        {
            "at_ms": 0,
            "speaker": who,
            "kind": who,
            "text": text,
            "turn_id": None,
            "refund": {"state": "paid", "amount_cents": 1, "order_id": text, "refund_id": text},
        }
        for text in HOSTILE
        for who in ("staff", "system")
    ]
    page.route(
        "**/support/conversations/*", lambda route: route.fulfill(json={"owner": "person", "messages": lines})
    )
    chat = Chat.open(page)
    expect(chat.cards).to_have_count(len(lines))

    for text in HOSTILE:
        for part in ("text", "card"):
            assert_is_text(chat.log.locator(f"[part~={part}]"), text)


@pytest.mark.fault(59)
def test_a_hostile_reply_comes_as_text_while_it_is_watched(page: Page, shop: Shop) -> None:
    hostile = " ".join(text for text in HOSTILE[:12] if "refund" not in text)
    shop.model.will(says(hostile))
    chat = Chat.open(page)
    chat.say(hostile)

    expect(chat.log.locator("[part~=text]")).to_have_count(2)
    assert_is_text(chat.log.locator("[part~=agent]"), hostile)


# --- Languages ------------------------------------------------------------------------------------


@pytest.fixture
def words(open_page: OpenPage) -> Any:
    page = open_page()
    return page.evaluate(re.sub(r"^export ", "", STRINGS, flags=re.MULTILINE) + "\nWORDS")


def test_every_word_is_there_in_every_language_with_the_same_gaps(words: dict[str, list[str]]) -> None:
    assert len(words) > 50
    for name, translations in words.items():
        assert len(translations) == 3, name
        assert all(word.strip() for word in translations), name
        assert len({tuple(sorted(re.findall(r"{\d}", word))) for word in translations}) == 1, name


def test_every_word_is_used(words: dict[str, list[str]]) -> None:
    used = "".join(
        path.read_text() for path in Path("web/static/chat").glob("*.js") if path.name != "strings.js"
    )
    named_by_the_service = {
        *("not_delivered", "final_sale", "return_window_closed", "already_refunded", "amount_not_refundable"),
        *("needs_approval", "paid", "unknown", "not_sent", "unknownNote", "not_sentNote", "running"),
        *("conversation-busy", "conversation-full", "internal-error", "sign-in-required"),
    }
    assert {name for name in words if not re.search(rf'["\w]*\b{name}\b', used)} <= named_by_the_service


@pytest.mark.parametrize(
    ("lang", "welcome", "amount"),
    [
        ("de", "Wie können wir helfen?", "49,99\N{NO-BREAK SPACE}€"),
        ("es", "¿En qué podemos ayudarle?", "49,99\N{NO-BREAK SPACE}€"),
    ],
)
def test_a_page_in_another_language_has_a_chat_in_it(
    page: Page, shop: Shop, lang: str, welcome: str, amount: str
) -> None:
    page.goto("/chat")
    page.get_by_label("Language").select_option(lang)
    expect(page.get_by_role("heading", name=welcome)).to_be_visible()
    expect(page.locator("[part~=suggestion]").first).to_contain_text(amount)
    shop.say(KETTLE)
    page.reload()
    page.get_by_label("Language").select_option(lang)

    expect(page.locator("[part~=card-amount]")).to_have_text(amount)


def test_what_the_service_says_is_in_the_chats_language_and_changes_with_it(page: Page, shop: Shop) -> None:
    chat = Chat.open(page)
    set_on_chat(page, "lang", "de-AT")
    box = page.get_by_role("textbox", name="Ihre Nachricht")
    box.fill("Please refund 500.01 for ORD-1005.")
    box.press("Enter")
    chat.reads("Es wurde noch nichts erstattet: Unser Team entscheidet darüber.")
    chat.reads("Diese Erstattung wartet auf die Entscheidung unseres Teams.")
    set_on_chat(page, "lang", "es")
    chat.reads("Este reembolso espera la decisión de una persona de nuestro equipo.")
    set_on_chat(page, "lang", "fr")

    chat.reads("This refund waits for a colleague's decision.")
    assert chat.log.get_by_text("decisión").count() == 0


def untranslated(page: Page) -> list[Any]:
    texts: list[tuple[str, str]] = page.evaluate(TEXTS)
    assert texts
    return [
        [part, text]
        for part, text in texts
        if part.split()[0] not in DATA and not re.fullmatch(r"\s*\[.* ~~~\]( |…|· )*", text)
    ]


def test_the_pseudo_locale_reaches_every_word(page: Page, shop: Shop) -> None:
    page.goto("/chat")
    set_on_chat(page, "consent", "as the site says it")
    page.get_by_label("Language").select_option("qps")
    expect(page.locator("[part~=suggestion]").first).to_be_visible()
    page.locator("summary").click()
    assert untranslated(page) == [["slot", "as the site says it"]]
    shop.payments.will("accept-then-drop", "reject")
    for message in (KETTLE, "Refund 89.00 for ORD-1002.", "[http-500] Hi", "I want to talk to a person"):
        shop.say(message, conversation_id=current(shop)) if "http" not in message else fails(shop, message)
    page.reload()
    page.get_by_label("Language").select_option("qps")
    expect(page.locator("[part~=card]")).to_have_count(2)

    assert untranslated(page) == []


def current(shop: Shop) -> str:
    listed = shop.get("/support/conversations", by=ADA)["conversations"]
    return str(listed[0]["conversation_id"]) if listed else ""


def fails(shop: Shop, message: str) -> None:
    with pytest.raises(AssertionError, match="provider-failed"):
        shop.say(message, conversation_id=current(shop))


# --- For everybody --------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["de", "es"])
def test_long_words_fit_a_small_phone_in_the_dark_from_right_to_left(
    open_page: OpenPage, shop: Shop, lang: str
) -> None:
    shop.payments.will("accept-then-drop")
    shop.say(KETTLE)
    page = open_page(viewport=PHONE, color_scheme="dark")
    page.goto("/chat")
    set_on_chat(page, "lang", lang)
    page.evaluate("document.documentElement.dir = 'rtl'")
    expect(page.locator("[part~=card]")).to_be_visible()

    assert page.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"]
    box = page.locator("[part~=scroll]")
    assert box.evaluate("(element) => element.scrollWidth <= element.clientWidth")


def test_every_state_passes_the_checker(page: Page, shop: Shop) -> None:
    chat = Chat.open(page)
    set_on_chat(page, "consent", "I agree.")
    assert violations(page) == []
    page.get_by_label("I agree.").check()
    with held_completion(shop.model):
        chat.say("Hello")
        expect(chat.status).to_have_text("Thinking")
        assert violations(page) == []
    chat.reads("Hello! I can")
    page.context.set_offline(True)
    chat.say("Hello?")
    expect(chat.trouble).to_contain_text("No connection")
    assert violations(page) == []


def test_who_wants_no_motion_gets_none(open_page: OpenPage, shop: Shop) -> None:
    page = open_page(reduced_motion="reduce")
    chat = Chat.open(page)
    with held_completion(shop.model):
        chat.say("Hello")
        expect(chat.status).to_have_text("Thinking")
        assert page.evaluate("document.getAnimations().length") == 0


def test_a_refund_can_be_asked_for_by_keyboard_alone(page: Page, shop: Shop) -> None:
    Chat.open(page)
    page.locator("[part~=suggestion]").first.focus()
    page.keyboard.press("Enter")
    box = page.get_by_role("textbox", name="Your message")
    expect(box).to_be_focused()
    expect(box).to_have_value("Please refund €49.99 for order ORD-1001. ")
    page.keyboard.press("Control+A")
    page.keyboard.type(KETTLE)
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Enter")
    expect(page.locator("[part~=card]")).to_be_visible()
    expect(box).to_be_focused()
    expect(box).to_have_value("")

    for name in ("Copy", "Save as text", "New conversation"):
        page.keyboard.press("Shift+Tab")
        while page.evaluate(FOCUSED_PART) == "scroll":
            page.keyboard.press("Shift+Tab")
        expect(page.get_by_role("button", name=name)).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="How can we help?")).to_be_visible()
    expect(box).to_be_focused()
    assert shop.moved == [("ORD-1001", 4999)]


def test_news_is_announced_and_trouble_is_an_alert(page: Page) -> None:
    chat = Chat.open(page)

    expect(chat.log).to_have_attribute("role", "log")
    expect(chat.status).to_have_attribute("role", "status")
    expect(chat.trouble).to_have_attribute("role", "alert")


# --- What else it can do --------------------------------------------------------------------------


def test_a_new_customer_reads_from_the_top_and_a_known_one_the_newest(
    open_page: OpenPage, shop: Shop
) -> None:
    page = open_page(viewport=PHONE)
    chat = Chat.open(page)
    expect(page.locator("summary")).to_be_attached()
    expect(chat.welcome).to_be_in_viewport(ratio=1)
    shop.say("Show me my orders")
    page.reload()

    expect(chat.log.locator("[part~=text]").last).to_be_visible()
    end = "(box) => box.scrollTop > 0 && box.scrollTop + box.clientHeight >= box.scrollHeight - 1"
    assert page.locator("[part~=scroll]").evaluate(end)


def test_lines_stand_in_the_services_order_however_they_came(page: Page, shop: Shop) -> None:
    shop.say("Hello")
    line = {"speaker": "staff", "kind": "staff", "turn_id": None, "refund": None}
    said = [{**line, "at_ms": 1, "text": "second"}, {**line, "at_ms": 2, "text": "third"}]
    page.route(
        "**/support/conversations/*", lambda route: route.fulfill(json={"owner": "agent", "messages": said})
    )
    chat = Chat.open(page)
    texts = chat.log.locator("[part~=text]")
    expect(texts).to_have_text(["second", "third"])
    said[:] = [{**line, "at_ms": 0, "text": "first"}, *said, {**line, "at_ms": 3, "text": "fourth"}]
    page.evaluate(LOOK_NOW)
    expect(texts).to_have_text(["first", "second", "third", "fourth"])
    said.reverse()
    page.evaluate(LOOK_NOW)

    expect(texts).to_have_text(["fourth", "third", "second", "first"])


def test_an_order_that_cannot_be_refunded_says_why(page: Page) -> None:
    Chat.open(page)
    page.locator("summary").click()

    for title, why in (("Electric kettle", "Can be refunded"), ("Display model of a speaker", "Final sale")):
        expect(page.locator("[part~=suggestion]").filter(has_text=title)).to_contain_text(why)
    page.locator("[part~=suggestion]").filter(has_text="Wool blanket").click()
    expect(page.get_by_role("textbox", name="Your message")).to_have_value("About order ORD-1007: ")


def test_the_first_message_needs_consent_where_the_site_asks_for_it(page: Page, shop: Shop) -> None:
    chat = Chat.open(page)
    set_on_chat(page, "consent", "I have read the privacy notice.")
    page.evaluate(
        "addEventListener('refund-chat-consent', () => (window.consents = (window.consents ?? 0) + 1))"
    )
    chat.box.fill("Hello")
    chat.box.press("Enter")
    expect(chat.box).to_have_value("Hello")
    assert shop.turns() == []
    page.get_by_label("I have read the privacy notice.").check()
    chat.box.press("Enter")
    chat.reads("Hello! I can look up your orders")

    expect(page.get_by_label("I have read the privacy notice.")).to_be_hidden()
    assert page.evaluate("consents") == 1


def test_minimised_it_counts_what_is_new_until_it_is_opened(page: Page, shop: Shop) -> None:
    chat = Chat.open(page)
    page.evaluate("addEventListener('refund-chat-unread', ({ detail }) => (window.unread = detail.count))")
    chat.say("I want to talk to a person")
    chat.reads("A colleague takes over.")
    set_on_chat(page, "launcher")
    expect(chat.log).to_be_hidden()
    shop.post(f"/support/conversations/{current(shop)}/messages", {"text": "Dana here."}, by=STAFF)
    opener = page.get_by_role("button", name="Open the chat")
    expect(opener).to_contain_text("1 new")
    assert page.evaluate("unread") == 1
    opener.click()
    chat.reads("Dana here.")
    page.get_by_role("button", name="Minimise").click()

    expect(opener).to_be_focused()
    expect(opener).not_to_contain_text("new")
    assert page.evaluate("unread") == 0


def test_the_transcript_has_every_line_and_the_ledgers_word(page: Page, shop: Shop) -> None:
    shop.say(KETTLE)
    Chat.open(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as text").click()
    text = Path(download.value.path()).read_text()

    assert download.value.suggested_filename == "conversation.txt"
    assert f"· You\n{KETTLE}" in text
    assert "49.99 EUR" not in text, "the refund is told once"
    assert re.search(r"Refund sent: €49\.99 Order: ORD-1001, Reference: rf_\d+\.", text)


def test_a_reply_can_be_copied(open_page: OpenPage, shop: Shop) -> None:
    said = shop.say("Hello")["reply"]
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    Chat.open(page)
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()

    assert page.evaluate("navigator.clipboard.readText()") == said


def test_a_copy_of_a_reply_has_the_line_about_the_refund_as_it_has_no_card(
    open_page: OpenPage, shop: Shop
) -> None:
    said = shop.say(KETTLE)
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    Chat.open(page)
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()

    assert page.evaluate("navigator.clipboard.readText()") == said["reply"] != said["words"]


def test_a_site_can_change_how_it_looks(page: Page) -> None:
    page.goto("/chat")
    page.evaluate(
        """() => {
          const sheet = new CSSStyleSheet();
          sheet.replaceSync(`refund-chat { --refund-chat-accent: rgb(90, 20, 120); }
            refund-chat::part(send) { border-radius: 0; }`);
          document.adoptedStyleSheets = [sheet];
        }"""
    )
    send = page.get_by_role("button", name="Send", exact=True)

    expect(send).to_have_css("background-color", "rgb(90, 20, 120)")
    expect(send).to_have_css("border-radius", "0px")
