"""The API document says what the service does, and its page needs no other host."""

import re
from typing import Any

import pytest

from tests.functional.web.conftest import Web
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
