"""The API document says what the service does, and its page needs no other host."""

import re
from collections.abc import Iterator
from typing import Any, cast

import pytest

from refund_agent.settings import Settings
from tests.fakes import calls_refund, says
from tests.functional.web.conftest import Web
from tests.functional.web.people import bearer
from tests.functional.web.support_room import SupportRoom, body_of
from tests.functional.web.turn_stage import TurnStage
from web.kinds import Kind

PATH = "/support/refund-chat"


@pytest.fixture
def document(web: Web) -> Any:
    return web.client.get("/openapi.json").json


def test_it_is_openapi_3_1_and_lists_the_routes(document: Any) -> None:
    assert document["openapi"] == "3.1.0"
    assert list(document["paths"]) == [PATH, "/support/turns/{turn_id}"]
    assert list(document["paths"][PATH]) == ["post"]


def test_the_request_is_documented_from_the_schema_that_validates_it(document: Any) -> None:
    body = document["paths"][PATH]["post"]["requestBody"]
    schema = document["components"]["schemas"]["RefundChatRequest"]

    assert body["required"] is True
    assert list(body["content"]) == ["application/json"]
    assert sorted(schema["required"]) == ["message", "user_id"]
    assert schema["additionalProperties"] is False
    limits = {
        name: (entry["type"], entry["minLength"], entry["maxLength"])
        for name, entry in schema["properties"].items()
    }
    assert limits == {"user_id": ("string", 1, 255), "message": ("string", 1, 4000)}


def test_every_status_but_200_and_202_is_documented_as_a_problem(document: Any) -> None:
    responses = document["paths"][PATH]["post"]["responses"]
    accepted = responses.pop("202")
    assert accepted["content"].keys() == {"application/json"}
    assert {"Location", "X-Turn-Id"} <= accepted["headers"].keys()

    assert list(responses["200"]["content"]) == ["application/json"]
    assert {"400", "401", "408", "413", "415", "422", "500", "502", "503", "504"} == responses.keys() - {
        "200"
    }
    for status in responses.keys() - {"200"}:
        (content,) = responses[status]["content"].items()
        reference = {"$ref": "#/components/schemas/ProblemDocument"}
        assert content == ("application/problem+json", {"schema": reference})
    assert all("X-Turn-Id" in response["headers"] for response in responses.values())


def test_every_kind_of_problem_is_in_the_table(document: Any) -> None:
    assert all(f"`{kind.type}` | {kind.status} |" in document["info"]["description"] for kind in Kind)


def test_every_reference_of_the_document_leads_somewhere(document: Any) -> None:
    references = re.findall(r"'\$ref': '#/components/schemas/(\w+)'", str(document))

    assert references
    assert set(references) <= document["components"]["schemas"].keys()


def test_a_problem_fits_its_documented_shape(web: Web, document: Any) -> None:
    schema = document["components"]["schemas"]["ProblemDocument"]
    problem = web.ask(message="").json

    assert problem is not None
    assert set(schema["required"]) <= problem.keys() <= set(schema["properties"])


def test_the_page_and_all_it_needs_are_served_from_here(web: Web) -> None:
    html = web.client.get("/docs").text
    needed = [path for path in re.findall(r'(?:src|href)="([^"]+)"', html) if path != "data:,"]

    assert len(needed) == 4
    for path in needed:
        answer = web.client.get(path)
        assert answer.status_code == 200
        assert answer.content_type.split(";")[0] in {"text/css", "text/javascript"}
    assert "https://" not in html + web.client.get("/docs/docs.js").text


def test_the_page_has_nothing_inline(web: Web) -> None:
    html = web.client.get("/docs").text

    assert "<style" not in html
    assert not re.search(r"<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=", html)


# --- All routes -----------------------------------------------------------------------------------

PORTAL = "portal-token-0123456789"
MISSING = "00000000-0000-4000-8000-000000000000"
TOKENS = {"portalToken": PORTAL, "customerToken": "is-alice"}


@pytest.fixture
def whole(database_url: str, redis_url: str) -> Iterator[SupportRoom]:
    """The service with everything switched on, and a portal token."""
    turn_stage = TurnStage(database_url, redis_url)
    yield SupportRoom.open(turn_stage, Settings(portal_tokens=(PORTAL,)))
    turn_stage.close()


def operations(room: SupportRoom) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield each path with a method and what is documented of the two."""
    document: Any = room.client.get("/openapi.json").json
    for path, methods in document["paths"].items():
        for method in ("get", "post", "put", "patch", "delete"):
            if method in methods:
                yield path, method, methods[method]


def test_every_route_of_the_support_agent_is_documented(whole: SupportRoom) -> None:
    rules = whole.client.application.url_map.iter_rules()
    served = {re.sub(r"<uuid:(\w+)>", r"{\1}", rule.rule) for rule in rules}

    assert {path for path, _, _ in operations(whole)} == {
        path for path in served if path.startswith("/support/")
    }


def test_the_security_of_every_route_is_what_it_accepts(whole: SupportRoom) -> None:
    documented: dict[str, set[str]] = {}
    accepted: dict[str, set[str]] = {}
    for path, method, operation in operations(whole):
        name, address = f"{method} {path}", re.sub(r"{\w+}", MISSING, path)
        documented[name] = {scheme for entry in operation["security"] for scheme in entry}
        accepted[name] = {
            scheme
            for scheme, token in TOKENS.items()
            if whole.client.open(address, method=method, headers=bearer(token)).status_code != 401
        }

    assert documented == accepted


def test_every_operation_says_what_it_answers_when_it_succeeds_and_without_a_token(
    whole: SupportRoom,
) -> None:
    for path, method, operation in operations(whole):
        answers = operation["responses"]
        assert any(status.startswith("2") for status in answers), (method, path)
        assert "401" in answers, (method, path)
        for status in answers:
            if not status.startswith("2"):
                assert list(answers[status]["content"]) == ["application/problem+json"], (method, path)


def fits(value: Any, schema: Any, schemas: Any) -> bool:
    """Whether every object in the value has exactly the members that are documented."""
    for part in schema.get("anyOf", schema.get("allOf", [schema])):
        if name := part.get("$ref", "").rpartition("/")[2]:
            return value is None or fits(value, schemas[name], schemas)
    if isinstance(value, list):
        return all(fits(item, schema["items"], schemas) for item in cast("list[object]", value))
    if isinstance(value, dict) and "properties" in schema:
        members = cast("dict[str, object]", value)
        return set(schema.get("required", ())) <= members.keys() <= set(schema["properties"]) and all(
            fits(item, schema["properties"][name], schemas) for name, item in members.items()
        )
    return True


def test_what_the_support_agent_answers_fits_its_documented_shape(whole: SupportRoom) -> None:
    document: Any = whole.client.get("/openapi.json").json
    schemas = document["components"]["schemas"]
    shown = {path: operation for path, method, operation in operations(whole) if method == "get"}
    chat = body_of(whole.chat("Refund A1", calls_refund("A1", 4_999), says("Done.")))
    whole.chat("Refund all of B1", calls_refund("B1", 80_000), says("A colleague decides."), by="bob")
    conversation = f"/support/conversations/{chat['conversation_id']}"

    for path, address, by in [
        ("/support/conversations", "/support/conversations", "alice"),
        ("/support/conversations/{conversation_id}", conversation, "alice"),
        ("/support/orders", "/support/orders", "alice"),
        ("/support/approvals", "/support/approvals", "sam"),
    ]:
        answer = body_of(whole.get(address, by=by))
        schema = shown[path]["responses"]["200"]["content"]["application/json"]["schema"]
        assert all(answer[name] for name in answer if isinstance(answer[name], list)), path
        assert fits(answer, schema, schemas), path
