"""Real Chromium before a whole running service; whatever a page does wrong fails the test that opened it.

A test takes `page`, or `open_page` for a window of another kind or a second person's browser:

    page.goto("/docs")                                    # paths are the shop's own
    other = open_page(viewport=PHONE, color_scheme="dark")

At the end of the test no page may have logged an error, broken its content security policy, thrown, or asked
another host than the shop. `watch.take()` returns what was found so far, for a test that provokes it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from sandbox.http import serve
from tests.browser.chromium import NoBrowser, running_chromium
from tests.browser.portal import Portal
from tests.browser.shop import Shop, open_shop
from tests.browser.watch import Watch
from tests.functional.conftest import redis_beside

OpenPage: TypeAlias = Callable[..., Page]
PHONE, TABLET, DESK = (
    ViewportSize(width=320, height=640),
    ViewportSize(width=768, height=1024),
    ViewportSize(width=1280, height=800),
)
PATIENCE_MS = 10_000
"""For anything that a person waits for; most of it comes within a second."""
expect.set_options(timeout=PATIENCE_MS)
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is in this folder; `make test` leaves it to `make test-browser`."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Give the browser. Without one the tests fail, and say what to install."""
    try:
        with running_chromium() as browser:
            yield browser
    except NoBrowser as why:
        pytest.fail(str(why), pytrace=False)


@pytest.fixture(scope="session")
def portal() -> Iterator[tuple[Portal, str]]:
    """Give a site that may embed the chat, and its address."""
    app = Portal()
    with serve(app) as server:
        yield app, server.url


@pytest.fixture(scope="session")
def running_shop(
    make_database: Callable[[], str],
    redis_server: str,
    tmp_path_factory: pytest.TempPathFactory,
    portal: tuple[Portal, str],
) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    redis_url = redis_beside(redis_server, 3)
    with open_shop(make_database, redis_url, folder, CHAT_ORIGINS=portal[1]) as shop:
        yield shop


@pytest.fixture
def shop(running_shop: Shop) -> Shop:
    """Give the running service with nothing in it but the seeds."""
    running_shop.begin_anew()
    return running_shop


@pytest.fixture
def watch(running_shop: Shop) -> Iterator[Watch]:
    """Listen to every page of the test; fail at its end for whatever was wrong."""
    listening = Watch({running_shop.url})
    yield listening
    assert listening.found == []


@pytest.fixture
def open_page(chromium: Browser, running_shop: Shop, watch: Watch) -> Iterator[OpenPage]:
    """Give an opener of pages, each in a browser profile of its own, as another person has.

    It takes what Playwright's `new_context` takes: viewport, color_scheme, reduced_motion, locale, offline …
    """
    contexts = []

    def open_one(**options: Any) -> Page:
        usual = {"base_url": running_shop.url, "viewport": DESK, "locale": "en-GB", "timezone_id": "UTC"}
        context = chromium.new_context(**{**usual, **options})
        context.set_default_timeout(PATIENCE_MS)
        watch.listen(context)
        contexts.append(context)
        return context.new_page()

    yield open_one
    for context in contexts:
        context.close()


@pytest.fixture
def page(open_page: OpenPage, shop: Shop) -> Page:
    """Give a page in a desk's window."""
    return open_page()
