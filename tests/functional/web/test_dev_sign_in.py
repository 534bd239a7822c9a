"""AUTH_MODE=dev: the picker, which exists in development only."""

from typing import Any

import pytest

from tests.functional.web.conftest import Web, problem_of
from tests.functional.web.people import bearer, sign_in


@pytest.fixture
def dev(web: Web) -> Web:
    web.sign_in = sign_in(dev=True)
    return web


def test_it_lists_who_can_be_picked(dev: Web) -> None:
    assert dev.client.get("/dev/customers").json == [
        {"id": "alice", "name": "Alice", "role": "customer"},
        {"id": "dana", "name": "Dana", "role": "staff"},
    ]


@pytest.mark.parametrize("picked", ["alice", "dana"])
def test_its_token_opens_the_other_routes(dev: Web, picked: str) -> None:
    answer = dev.client.post("/dev/token", json={"id": picked})
    assert answer.headers["Cache-Control"] == "no-store"
    body: dict[str, Any] = answer.get_json()
    asked = dev.client.post("/support/tickets", json={"path": "/support/x"}, headers=bearer(body["token"]))

    assert asked.status_code == 200


@pytest.mark.parametrize(
    "body", [{}, {"id": "mallory"}, {"id": 7}, {"id": None}, {"id": "alice", "role": "staff"}, []]
)
def test_nobody_else_can_be_picked(dev: Web, body: Any) -> None:
    problem_of(dev.client.post("/dev/token", json=body), 422)


def test_a_form_of_another_page_cannot_pick(dev: Web) -> None:
    problem_of(dev.client.post("/dev/token", data='{"id": "alice"}', content_type="text/plain"), 415)
    problem_of(dev.client.post("/dev/token", data="id=alice", content_type="application/json"), 400)


@pytest.mark.parametrize("path", ["/dev/customers", "/dev/token"])
def test_it_is_not_there_in_another_mode_or_in_production(dev: Web, path: str) -> None:
    dev.set(app_env="production")
    problem_of(dev.client.get(path), 404)


def test_it_is_not_there_with_a_host_site(web: Web) -> None:
    web.sign_in = sign_in()
    problem_of(web.client.get("/dev/customers"), 404)
