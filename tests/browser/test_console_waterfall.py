"""The waterfall's colours: doubt has one of its own, can be told without colours, and is nobody's success."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.pages import Console
from tests.browser.shop import KETTLE, Shop

LEAST_OF_A_SHAPE, LEAST_OF_A_TEXT = 3.0, 4.5
"""WCAG 2.2 AA, 1.4.11 and 1.4.3."""
CONTRAST = """
(element, property) => {
  const parts = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((part) => Number(part) / 255);
  const light = (color) => {
    const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = parts(color).map(linear);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const behind = getComputedStyle(element.closest(".chart")).backgroundColor;
  const [one, other] = [light(getComputedStyle(element)[property]), light(behind)];
  return Math.max(one, other) / Math.min(one, other);
}
"""
FILL = "element => getComputedStyle(element).fill"


def turn_page(page: Page, shop: Shop, *modes: str) -> Page:
    shop.payments.will(*modes)
    return Console.open(page, f"turns/{shop.say(KETTLE)['turn_id']}").page


def step(page: Page, name: str) -> Locator:
    return page.locator(".step").filter(has_text=name)


def fill_of(page: Page, name: str) -> str:
    return str(step(page, name).locator(".bar-rect").evaluate(FILL))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_lost_answer_is_drawn_in_doubt_and_can_be_read(
    open_page: OpenPage, shop: Shop, scheme: str
) -> None:
    page = turn_page(open_page(color_scheme=scheme), shop, "accept-then-drop")
    asked = step(page, "Asked payments: not known whether the money moved")

    assert asked.locator(".bar-rect").evaluate(CONTRAST, "fill") >= LEAST_OF_A_SHAPE
    assert asked.locator(".step-name").evaluate(CONTRAST, "color") >= LEAST_OF_A_TEXT
    expect(asked.locator(".bar-stripes")).to_have_attribute("fill", "url(#doubt)")
    expect(page.locator("pattern#doubt")).to_have_count(1)
    expect(step(page, "Wanted to refund: no clear answer").locator(".bar-stripes")).to_have_count(1)


def test_doubt_and_failure_have_another_colour_than_money_that_was_paid(
    open_page: OpenPage, shop: Shop
) -> None:
    paid = turn_page(open_page(), shop, "ok")
    green = fill_of(paid, "Asked payments: paid")
    expect(paid.locator(".bar-stripes")).to_have_count(0)
    shop.begin_anew()
    doubt = fill_of(turn_page(open_page(), shop, "accept-then-drop"), "Asked payments: not known")
    shop.begin_anew()
    rejected = turn_page(open_page(), shop, "reject")

    assert len({green, doubt, fill_of(rejected, "Asked payments: rejected")}) == 3
    assert fill_of(rejected, "Cleared to send") not in {green, doubt}
    assert fill_of(rejected, "Wanted to refund: answered with an error") == fill_of(
        rejected, "Asked payments: rejected"
    )
