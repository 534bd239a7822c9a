"""`make pages`: what the pages weigh, how soon they can be used, and how late the console is when busy."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser

from sandbox.embedded_redis import embedded_redis
from tests.browser import crowd
from tests.browser.chromium import NoBrowser, running_chromium
from tests.browser.lag import Lag, lags
from tests.browser.pages import Console
from tests.browser.shop import Shop, open_shop
from tests.browser.story import tell
from tests.browser.weigh import Weighed, weigh
from tests.conftest import fresh_database

TURNS = 200


def main() -> None:
    """Measure, and print two tables in Markdown."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pages-")))
        browser = stack.enter_context(running_chromium())
        shop = stack.enter_context(
            open_shop(
                lambda: stack.enter_context(fresh_database(folder)),
                stack.enter_context(embedded_redis()),
                folder,
                model=crowd.BusyModel(),
                **crowd.SETTINGS,
            )
        )
        sys.stdout.write("\n".join(weights(weigh_all(browser, shop))) + "\n\n")
        shop.begin_anew()
        with crowd.crowd_of(TURNS, shop):
            found = lags(browser.new_page(base_url=shop.url), shop)
            sys.stdout.write(f"{crowd.running(shop)} turns run.\n\n")
        sys.stdout.write("\n".join(lateness(found)) + "\n")


def weigh_all(browser: Browser, shop: Shop) -> list[Weighed]:
    """Weigh the chat, and each page of the console with a little of everything in it."""
    shop.begin_anew()
    story = tell(shop)
    signed_in = browser.new_context(base_url=shop.url)
    Console.open(signed_in.new_page())
    state = signed_in.storage_state()
    signed_in.close()
    chat = "document.querySelector('refund-chat')?.shadowRoot?.querySelector('.line, .suggestion')"
    console = "document.readyState === 'complete' && document.querySelector('main h1')"
    paths = [
        "overview",
        "conversations",
        f"conversations/{story.refunded['conversation_id']}",
        f"turns/{story.refunded['turn_id']}",
        "approvals",
        "unknown",
    ]
    return [
        weigh(browser, shop.url, "/chat", ready=chat),
        *(weigh(browser, shop.url, f"/console/{path}", ready=console, state=state) for path in paths),
    ]


def weights(weighed: list[Weighed]) -> Iterator[str]:
    yield "| page | requests | kB sent | kB gzipped | usable after |"
    yield "|---|--:|--:|--:|--:|"
    for one in weighed:
        sent, gzipped = one.sent_bytes / 1000, one.gzipped_bytes / 1000
        yield f"| `{one.path}` | {one.requests} | {sent:.1f} | {gzipped:.1f} | {one.ready_ms} ms |"


def lateness(found: list[Lag]) -> Iterator[str]:
    yield f"| with {TURNS} turns running | median | worst of {len(found[0].samples_ms)} |"
    yield "|---|--:|--:|"
    for lag in found:
        yield f"| {lag.what} | {median(lag.samples_ms):.0f} ms | {max(lag.samples_ms)} ms |"


if __name__ == "__main__":
    try:
        main()
    except NoBrowser as why:
        sys.exit(f"pages: {why}")
