"""What customers see when something breaks in the middle of a turn; and that money moves once at most."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from sandbox.processes import Process
from tests.browser.conftest import OpenPage
from tests.browser.held import held_completion
from tests.browser.pages import Chat
from tests.browser.screens import screen
from tests.browser.shop import KETTLE, Shop, open_shop
from tests.browser.watch import Watch
from tests.functional.conftest import redis_beside
from tests.functional.stand import another_web

ENOUGH_FOR_A_CLAIM = "8"
"""A claim needs 2.5 s left, and a busy machine a while to come to it."""
PATIENCE_MS = 30_000
"""Deadlines pass, and a silent worker's turns are taken over, after seconds that a busy machine stretches."""


@pytest.fixture
def own_shop(
    make_database: Callable[[], str], redis_server: str, watch: Watch, tmp_path: Path
) -> Iterator[Shop]:
    """Give a service whose worker may die: after three silent seconds its turns are another's."""
    redis_url = redis_beside(redis_server, 7)
    with open_shop(make_database, redis_url, tmp_path, TURN_DEADLINE_SECONDS="24") as shop:
        shop.begin_anew()
        watch.origins.add(shop.url)
        yield shop


def test_a_deadline_that_passes_after_the_refund_ends_with_the_truth(
    open_page: OpenPage, shop: Shop, watch: Watch, tmp_path: Path
) -> None:
    with another_web(shop.stand, tmp_path / "web.log", TURN_DEADLINE_SECONDS=ENOUGH_FOR_A_CLAIM) as hasty:
        watch.origins.add(hasty.url)
        chat = Chat.open(open_page(base_url=hasty.url))
        with held_completion(shop.model, after=2):
            chat.say(KETTLE)
            expect(chat.log).to_contain_text("This message got no reply.", timeout=PATIENCE_MS)
            expect(chat.cards).to_contain_text("Refund sent")
            screen(chat.page, "chat-no-reply-refund-sent")

    assert shop.moved == [("ORD-1001", 4999)]
    assert [turn["outcome"] for turn in shop.turns()] == ["deadline_passed"]


def test_a_deadline_that_passes_before_the_refund_says_that_none_was_sent(
    open_page: OpenPage, shop: Shop, watch: Watch, tmp_path: Path
) -> None:
    with another_web(shop.stand, tmp_path / "web.log", TURN_DEADLINE_SECONDS="4") as hasty:
        watch.origins.add(hasty.url)
        chat = Chat.open(open_page(base_url=hasty.url))
        with held_completion(shop.model):
            chat.say(KETTLE)
            chat.reads("No refund was made with it, and none will be.")

    assert shop.moved == []
    assert shop.refunds() == {}


def test_a_killed_worker_is_replaced_while_the_customer_watches(
    open_page: OpenPage, own_shop: Shop, tmp_path: Path
) -> None:
    chat = Chat.open(open_page(base_url=own_shop.url))
    with held_completion(own_shop.model):
        chat.say(KETTLE)
        expect(chat.status).to_contain_text("Thinking")
        own_shop.model.wait_for_requests(1)
        own_shop.stand.worker.kill()
        another = Process("worker", env=own_shop.stand.env, log=tmp_path / "worker-2.log")

    try:
        expect(chat.cards).to_contain_text("Refund sent", timeout=PATIENCE_MS)
    finally:
        another.kill()
    assert own_shop.moved == [("ORD-1001", 4999)]
    assert own_shop.refunds() == {"ORD-1001": "paid"}
    assert [turn["epoch"] for turn in own_shop.turns()] == [3], "the turn had two owners"


def test_a_worker_killed_while_it_asks_payments_leaves_a_refund_that_is_said_to_be_unknown(
    open_page: OpenPage, own_shop: Shop, tmp_path: Path
) -> None:
    own_shop.payments.will("accept-then-hang")
    chat = Chat.open(open_page(base_url=own_shop.url))
    chat.say(KETTLE)
    assert own_shop.payments.wait_for_requests(1)
    own_shop.stand.worker.kill()
    another = Process("worker", env=own_shop.stand.env, log=tmp_path / "worker-2.log")

    try:
        expect(chat.cards).to_contain_text("We are not sure yet", timeout=PATIENCE_MS)
    finally:
        another.kill()
    assert own_shop.moved == [("ORD-1001", 4999)], "payments moved it, and nobody sent it again"
    assert own_shop.refunds() == {"ORD-1001": "unknown"}
