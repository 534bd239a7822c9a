"""A turn whose worker has stopped in the middle of it, as the page of stuck turns shows it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import redis
from playwright.sync_api import expect
from sqlalchemy import update

from refund_agent.adapters.sql_tables import turns
from tests.browser.conftest import OpenPage
from tests.browser.held import held_completion
from tests.browser.looks import LOOKS, require_usable, turn_round
from tests.browser.pages import Console
from tests.browser.screens import screen
from tests.browser.shop import Shop
from tests.functional.stand import turn_id, wait_until

MINUTES_MS = 5 * 60_000
"""So long ago it was asked; its worker was heard of when it began, and its deadline is over since."""


@contextmanager
def stuck_turn(shop: Shop) -> Iterator[str]:
    """Let the worker fall silent in the middle of a turn, minutes ago; give the turn's id."""
    stand, asked = shop.stand, shop.model.request_count
    with held_completion(shop.model):
        answer = stand.chat("Please refund 49.99 for order SHOP-1001.", headers={"Prefer": "respond-async"})
        assert shop.model.wait_for_requests(asked + 1)
        stand.stop_worker()
        try:
            be_long_ago(shop, turn_id(answer))
            yield turn_id(answer)
        finally:
            stand.let_worker_go_on()
    wait_until(lambda: [turn["state"] for turn in shop.turns()] == ["ended"])


def be_long_ago(shop: Shop, stuck: str) -> None:
    """Put the turn's times back, and let its worker be forgotten as it would have been by now."""
    times = (turns.c.created_at_ms, turns.c.begun_at_ms, turns.c.deadline_at_ms, turns.c.lease_until_ms)
    put_back = update(turns).values({time.name: time - MINUTES_MS for time in times})
    with shop.stand.database.transaction() as tx:
        tx.execute(put_back.where(turns.c.id == stuck))
    with redis.Redis.from_url(shop.stand.redis_url) as client:
        client.delete("presence:worker")


def test_a_stuck_turn_says_how_long_who_had_it_and_why_it_is_not_safe_to_ask_again(
    open_page: OpenPage, shop: Shop
) -> None:
    console = Console.open(open_page(), "stuck")
    expect(console.page.get_by_text("Nothing is stuck.")).to_be_visible()

    with stuck_turn(shop) as stuck:
        row = console.page.get_by_role("row").filter(has_text=stuck)
        expect(row).to_contain_text("running, completions 1/5, attempt 1/2.")
        cells = row.get_by_role("cell")
        expect(cells.nth(0)).to_have_text("5 min")
        expect(cells.nth(1)).to_have_text("4 min ago")
        expect(cells.nth(2)).to_have_text("5 min ago")
        expect(cells.nth(3)).to_contain_text("not heard of")
        expect(cells.nth(4)).to_have_text("none")
        expect(cells.nth(5)).to_have_text("no the turn has not ended: it may still send its refund")
        expect(console.page.get_by_text("No worker has been heard of lately")).to_be_visible()
        expect(console.page.get_by_role("link", name="Stuck turns")).to_contain_text("1 waiting")

    expect(row).to_have_count(0)
    expect(console.page.get_by_text("Nothing is stuck.")).to_be_visible()


@pytest.mark.timeout(120)
def test_a_stuck_turn_can_be_read_by_anybody(open_page: OpenPage, shop: Shop) -> None:
    with stuck_turn(shop) as stuck:
        for look in LOOKS:
            page = open_page(**look.options)
            Console.open(page, "stuck")
            expect(
                page.get_by_role("row" if look.name == "desk" else "link").filter(has_text=stuck)
            ).to_be_visible()
            turn_round(page, look)
            if look.name == "desk":
                screen(page, "console-stuck", whole=True)
            require_usable(page, look)
