"""The keyboard in the list, and the small machine that changes a live page into what the server shows."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import Console
from tests.browser.shop import KETTLE, Shop

RANDOM_TREES = """
async (address) => {
  const { patch } = await import(address);
  let seed = 20261130;
  const upTo = (most) => (seed = (seed * 48271) % 2147483647) % most;

  function tree(depth) {
    const node = document.createElement(["div", "p", "section"][upTo(3)]);
    if (upTo(2)) node.className = `c${upTo(3)}`;
    const free = [0, 1, 2, 3, 4, 5].sort(() => upTo(3) - 1);
    for (let n = upTo(5); n > 0 && depth > 0; n--) {
      const child = upTo(4) ? tree(depth - 1) : document.createTextNode(`t${upTo(4)}`);
      if (child.nodeType === Node.ELEMENT_NODE && upTo(2)) child.id = `k${free.pop()}`;
      node.append(child);
    }
    return node;
  }

  const wrong = [];
  for (let round = 0; round < 2000; round++) {
    const [old, fresh] = [document.createElement("main"), document.createElement("main")];
    old.append(tree(3));
    fresh.append(tree(3));
    const shown = fresh.outerHTML;
    patch(old, fresh);
    if (!old.isEqualNode(fresh) || fresh.outerHTML !== shown) wrong.push([old.outerHTML, shown]);
  }
  return wrong;
}
"""


KEEPS_FOCUS = """
async ([address, before, after]) => {
  const { patch } = await import(address);
  const list = (ids) => {
    const made = document.createElement("ol");
    for (const id of ids) {
      const item = document.createElement("li");
      item.id = id;
      item.append(document.createElement("textarea"));
      made.append("\\n", item);
    }
    return made;
  };
  const old = list(before);
  document.body.append(old);
  const field = old.querySelector("#mine textarea");
  field.focus();
  field.value = "half a sentence";
  field.setSelectionRange(4, 4);
  const fresh = list(after);
  patch(old, fresh);
  const kept = document.activeElement === field && field.selectionStart === 4;
  const found = [kept, field.value, [...old.children].map((item) => item.id).join(" ")];
  old.remove();
  return found;
}
"""


def address_of(page: Page, script: str) -> str:
    found = re.search(rf"/console/static/\w+/{script}", page.content())
    assert found is not None
    return found[0].replace(script, "live.js")


def test_a_changed_page_is_what_the_server_shows_whatever_it_was(page: Page, shop: Shop) -> None:
    page = Console.open(page, "overview").page
    assert page.evaluate(RANDOM_TREES, address_of(page, "fresh.js")) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a b mine c", "mine c"),
        ("a mine b", "new mine b"),
        ("a mine b c", "mine new a b"),
        ("a mine b c", "c b mine a"),
        ("mine a b", "b a mine"),
    ],
)
def test_whoever_types_keeps_words_caret_and_focus_whatever_comes_goes_and_moves(
    page: Page, shop: Shop, before: str, after: str
) -> None:
    page = Console.open(page, "overview").page
    given = [address_of(page, "fresh.js"), before.split(), after.split()]
    assert page.evaluate(KEEPS_FOCUS, given) == [True, "half a sentence", after]


def test_a_list_is_walked_opened_and_searched_by_key(page: Page, shop: Shop) -> None:
    shop.say("Hello")
    asked = shop.say(KETTLE)
    page = Console.open(page, "conversations").page

    expect(page.get_by_role("button", name="Keyboard")).to_be_visible()  # shown once keys are listened to
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("kettle")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row")).to_have_count(2)  # one line of headings
    page.keyboard.press("j")
    page.keyboard.press("o")
    page.wait_for_url(f"**/console/conversations/{asked['conversation_id']}")

    page.keyboard.press("g")
    page.keyboard.press("o")
    page.wait_for_url("**/console/overview")
