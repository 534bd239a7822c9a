"""The chat as pages and as a module: where they are, under which policy, and who may frame and load them."""

import gzip
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.functional.web.conftest import Web, problem_of
from tests.functional.web.people import sign_in
from web.chat_module import PARTS

PORTAL = "https://shop.example"
MODULE = "/chat/refund-chat.js"
SOURCES = Path("web/static/chat")
MAX_BYTES_GZIPPED = 12_000


@pytest.fixture
def site(web: Web) -> Web:
    """A service whose customers are signed in by a host site of one origin."""
    web.sign_in = sign_in()
    web.set(support=replace(web.settings.support, chat_origins=(PORTAL,)))
    return web


@pytest.fixture
def dev(web: Web) -> Web:
    web.sign_in = sign_in(dev=True)
    return web


def policy_of(web: Web, path: str) -> dict[str, str]:
    answer = web.client.get(path)
    assert (answer.status_code, answer.mimetype) == (200, "text/html")
    directives = answer.headers["Content-Security-Policy"].split("; ")
    return {name: rest for name, _, rest in (one.partition(" ") for one in directives)}


# --- Where they are -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/chat", "/chat/embed", MODULE])
def test_without_a_way_to_sign_in_there_is_no_chat(web: Web, path: str) -> None:
    problem_of(web.client.get(path), 404)


def test_the_picker_and_its_scenarios_are_a_developers(site: Web) -> None:
    assert "customer" not in re.findall(r'id="(\w+)"', site.client.get("/chat").text)
    problem_of(site.client.get("/chat/scenarios.json"), 404)


def test_a_developer_can_pick_a_customer_and_play_every_seeded_order(dev: Web) -> None:
    assert 'id="customer"' in dev.client.get("/chat").text
    scenarios: list[dict[str, str]] = dev.client.get("/chat/scenarios.json").get_json()
    assert len(scenarios) == 17
    assert {tuple(sorted(one)) for one in scenarios} == {("about", "customer_id", "expect", "say")}


def test_a_developer_begins_with_the_chat(dev: Web) -> None:
    answer = dev.client.get("/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/chat")


def test_without_the_support_agent_a_developer_begins_with_refund_chat(web: Web) -> None:
    answer = web.client.get("/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/demo")


# --- Their policy ---------------------------------------------------------------------------------


@pytest.mark.fault(59)
@pytest.mark.parametrize("path", ["/chat", "/chat/embed"])
def test_nothing_inline_nothing_from_elsewhere_and_no_html_from_scripts(site: Web, path: str) -> None:
    policy = policy_of(site, path)
    assert policy["default-src"] == "'none'"
    assert {policy[name] for name in ("script-src", "style-src", "img-src", "connect-src")} == {"'self'"}
    assert (policy["require-trusted-types-for"], policy["trusted-types"]) == ("'script'", "'none'")


def test_only_the_portals_may_frame_the_embedded_page(site: Web) -> None:
    assert policy_of(site, "/chat/embed")["frame-ancestors"] == f"'self' {PORTAL}"
    assert policy_of(site, "/chat")["frame-ancestors"] == "'none'"


def test_the_page_takes_tokens_of_the_portals_only(site: Web) -> None:
    assert site.client.get("/chat/host.json").json == {"origins": [PORTAL]}


def files_of(web: Web, path: str) -> Iterator[Any]:
    for name in re.findall(r'(?:src|href)="(/chat/[^"]+)"', web.client.get(path).text):
        yield web.client.get(name)


@pytest.mark.parametrize("path", ["/chat", "/chat/embed"])
def test_a_page_is_complete_and_asks_nobody_else(dev: Web, path: str) -> None:
    html = dev.client.get(path).text
    assert not re.search(
        r"<style|<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=|(?:src|href)=\"(?:https?:)?//", html
    )
    types = [(answer.status_code, answer.mimetype) for answer in files_of(dev, path)]
    assert {status for status, _ in types} == {200}
    assert {"text/css", "text/javascript", "image/svg+xml"} == {mimetype for _, mimetype in types}


# --- The module that a portal embeds ----------------------------------------------------------------


def test_any_page_may_load_the_module(site: Web) -> None:
    answer = site.client.get(MODULE)
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert answer.mimetype == "text/javascript"


def test_the_module_is_kept_by_browsers_and_asked_for_again_each_time(site: Web) -> None:
    first = site.client.get(MODULE)
    again = site.client.get(MODULE, headers={"If-None-Match": first.headers["ETag"]})
    assert first.headers["Cache-Control"] == "no-cache"
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["Access-Control-Allow-Origin"] == "*"


def test_the_module_is_sent_compressed_to_whoever_takes_it(site: Web) -> None:
    plain = site.client.get(MODULE)
    small = site.client.get(MODULE, headers={"Accept-Encoding": "gzip, br"})
    assert small.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(small.data) == plain.data
    assert len(small.data) < MAX_BYTES_GZIPPED
    assert plain.headers["Vary"] == small.headers["Vary"] == "Accept-Encoding"
    assert plain.headers["ETag"] != small.headers["ETag"]


def test_the_module_is_small_and_needs_no_other(site: Web) -> None:
    module = site.client.get(MODULE).data
    assert len(gzip.compress(module)) < MAX_BYTES_GZIPPED
    assert not re.search(rb"^(?:import|export)\b", module, re.MULTILINE)


def test_every_part_of_the_chat_is_in_the_module() -> None:
    own = {file.name for file in SOURCES.glob("*.js")} - {"hosted.js", "dev.js"}
    assert own == set(PARTS)


@pytest.mark.fault(59, 61)
@pytest.mark.parametrize("source", sorted(SOURCES.glob("*.js")), ids=lambda file: file.name)
def test_no_script_of_the_chat_can_make_html_or_load_an_image(source: Path) -> None:
    html = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|setHTML|eval\(|Function\("
    found = set(re.findall(rf'{html}|"(?:img|a)"', source.read_text()))
    assert found <= ({'"a"'} if source.name == "element.js" else set())  # the download of the transcript
