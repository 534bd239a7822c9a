"""What a page weighs, and how soon it can be used: measured in a browser that has never seen it."""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from playwright.sync_api import Browser, Response

from tests.browser.conftest import DESK

LOADS: Final = 9


@dataclass(frozen=True, slots=True)
class Weighed:
    """One page: the requests it makes, their bodies' bytes, and the milliseconds until it can be used.

    `sent_bytes` is what the service sends; `gzipped_bytes` what a compressing proxy in front makes of it.
    """

    path: str
    requests: int
    sent_bytes: int
    gzipped_bytes: int
    ready_ms: int


def weigh(browser: Browser, url: str, path: str, *, ready: str, state: Any = None) -> Weighed:
    """Load the page anew several times; `ready` is an expression that holds once a person can use it.

    The milliseconds are the median, from the start of the navigation, by the page's own clock.
    """
    loads = [_load(browser, url + path, ready=ready, state=state) for _ in range(LOADS)]
    answers, _ = loads[-1]
    return Weighed(
        path,
        len(answers),
        sum(sent for sent, _ in answers),
        sum(gzipped for _, gzipped in answers),
        round(median(ms for _, ms in loads)),
    )


def _load(browser: Browser, url: str, *, ready: str, state: Any) -> tuple[Sequence[tuple[int, int]], float]:
    """Return each answer's bytes, as sent and as gzip makes them, and the milliseconds."""
    context = browser.new_context(viewport=DESK, storage_state=state)
    try:
        page = context.new_page()
        answers: list[Response] = []
        page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108 - takes no built-in
        page.goto(url, wait_until="commit")
        ms = float(page.wait_for_function(f"() => ({ready}) && performance.now()").json_value())
        page.wait_for_load_state("networkidle")
        return [_bytes(answer) for answer in answers if answer.ok], ms
    finally:
        context.close()


def _bytes(answer: Response) -> tuple[int, int]:
    return answer.request.sizes()["responseBodySize"], len(gzip.compress(answer.body()))
