"""The page to try the service with: there in development, absent in production."""

import re
from pathlib import Path

import pytest

from sandbox.scripts import find_script
from tests.functional.web.conftest import Web, problem_of
from web.demo import SUGGESTIONS

FILES = ["/demo", "/demo/demo.js", "/demo/demo.css", "/demo/suggestions.json"]


@pytest.mark.parametrize("path", FILES)
def test_the_page_is_there_in_development(web: Web, path: str) -> None:
    assert web.client.get(path).status_code == 200


@pytest.mark.parametrize("path", FILES)
def test_the_page_is_absent_in_production(web: Web, path: str) -> None:
    web.set(app_env="production", portal_tokens=("t",))

    problem_of(web.client.get(path), 404)


def test_the_page_has_nothing_inline_and_asks_no_other_host(web: Web) -> None:
    html = web.client.get("/demo").text

    assert "<style" not in html
    assert not re.search(r"<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=", html)
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", html)
    assert all(
        web.client.get(path).status_code == 200 for path in re.findall(r'(?:src|href)="([^"]+)"', html)
    )


def test_whatever_is_shown_is_set_as_text() -> None:
    for script in Path("web/static").glob("*.js"):
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", script.read_text())


def test_every_suggestion_can_be_said_and_its_script_exists(web: Web) -> None:
    for suggestion in web.client.get("/demo/suggestions.json").json or []:
        assert web.ask(message=suggestion["say"]).status_code == 200
        tag = re.match(r"\[([a-z0-9-]+)\]", suggestion["say"])
        assert tag is None or find_script(tag[1])
    assert len(web.facade.asked) == len(SUGGESTIONS)
