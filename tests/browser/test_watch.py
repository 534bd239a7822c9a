"""The eyes of these tests see: what a page must never do is noticed, and the checker finds faults."""

from collections.abc import Iterator
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page

from sandbox.answers import Reply, Request
from sandbox.http import serve
from tests.browser.chromium import violations
from tests.browser.watch import Watch

ELSEWHERE = "http://127.0.0.1:9"


class Site:
    """A site of somebody who is careless, under a strict policy."""

    policy = "default-src 'self'; script-src 'self'; img-src * data:; require-trusted-types-for 'script'"

    def opening(self, path: str) -> None:
        return None

    def answer(self, request: Request) -> Reply:
        if request.path == "/gone":
            return Reply(404)
        if request.path == "/bad.js":
            return Reply(200, b"setTimeout(() => { throw new Error('broken') })", "text/javascript")
        if request.path == "/ask.js":
            return Reply(200, b"alert('hello'); console.error('seen')", "text/javascript")
        careless = unquote(request.path.removeprefix("/"))
        page = f"<!doctype html><html lang=en><title>t</title><main><h1>h</h1>{careless}".encode()
        return Reply(200, page, "text/html", (("Content-Security-Policy", self.policy),))


@pytest.fixture
def site(watch: Watch) -> Iterator[str]:
    with serve(Site()) as server:
        watch.origins.add(server.url)
        yield server.url


@pytest.mark.parametrize(
    "case",
    [
        ("<script>1</script>", "console", "policy violation: script-src-elem inline"),
        (f"<img src={ELSEWHERE} alt=a>", "request", f"foreign request: GET {ELSEWHERE}"),
        ("<script src=/bad.js></script>", "weberror", "uncaught: broken"),
        ("<script src=/ask.js></script>", "console", "alert dialog: hello"),
        ("<img src=/gone alt=a>", "response", "404 for image"),
    ],
    ids=["inline script", "foreign image", "uncaught error", "dialog", "missing image"],
)
def test_what_a_page_must_not_do_is_noticed(
    page: Page, site: str, watch: Watch, case: tuple[str, str, str]
) -> None:
    careless, event, noticed = case
    with page.context.expect_event(event, lambda _: noticed in str(watch.found)):
        page.goto(f"{site}/{careless}")

    assert noticed in str(watch.take())


def test_an_error_in_the_console_is_noticed(page: Page, watch: Watch) -> None:
    page.goto("/")
    with page.expect_console_message():
        page.evaluate("console.error('something went wrong')")

    assert watch.take() == ["error in the console: something went wrong"]


def test_the_checker_works_under_trusted_types_and_finds_an_image_without_words(
    page: Page, site: str
) -> None:
    page.goto(f"{site}/<img src=data:,>")

    assert [found.rule for found in violations(page)] == ["image-alt"]
