"""What counts as a body: whole, in time, within the limit, and one strict JSON value."""

import io
import json
from typing import Any

import pytest

from tests.functional.web.conftest import Web, problem_of
from web.body import MAX_BODY_BYTES

GOOD = '{"user_id": "u", "message": "m"}'


def refused(web: Web, status: int, *args: Any, **more: Any) -> dict[str, Any]:
    """Send a body, expect a problem, and that nothing was stored, sent or moved."""
    problem = problem_of(web.send(*args, **more), status)
    assert problem["refund"] is None
    assert web.facade.asked == []
    return problem


@pytest.mark.contract("C3")
def test_a_json_body_is_taken(web: Web) -> None:
    answer = web.send(GOOD)

    assert answer.status_code == 200
    assert [(new.user_id, new.message) for new in web.facade.asked] == [("u", "m")]


@pytest.mark.fault(1)
@pytest.mark.contract("C8")
@pytest.mark.parametrize(
    "body", ["{", "{'user_id': 1}", "user_id=u", GOOD + "x", GOOD + GOOD, GOOD[:-1], "\x00"]
)
def test_a_body_that_is_not_json_is_400(web: Web, body: str) -> None:
    refused(web, 400, body)


@pytest.mark.fault(2)
@pytest.mark.parametrize("body", ["", " ", "\r\n"])
def test_an_empty_body_is_400(web: Web, body: str) -> None:
    refused(web, 400, body)


@pytest.mark.fault(3)
@pytest.mark.contract("C9")
@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/problem+json",
        "application/jsonp",
        "application/json, text/plain",
        "application",
        "*/*",
    ],
)
def test_another_content_type_is_415_and_never_read_by_force(web: Web, content_type: str | None) -> None:
    refused(web, 415, GOOD, content_type)


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json;charset=utf-8",
        'Application/JSON; Charset="UTF-8"',
        "application/json; charset=utf8",
        "application/json;",
        "application/json; profile=x",
    ],
)
def test_json_may_say_that_it_is_utf_8(web: Web, content_type: str) -> None:
    assert web.send(GOOD, content_type).status_code == 200


@pytest.mark.fault(4)
@pytest.mark.parametrize("charset", ["latin-1", "iso-8859-1", "utf-16", "us-ascii", "nonsense", "''"])
def test_another_charset_is_400(web: Web, charset: str) -> None:
    body = '{"user_id": "u", "message": "café"}'.encode("latin-1")
    refused(web, 400, body, f"application/json; charset={charset}")


@pytest.mark.fault(5)
@pytest.mark.parametrize(
    "body",
    [
        b'{"user_id": "u", "message": "\xff"}',
        '{"user_id": "u", "message": "é"}'.encode("latin-1"),
        b'{"user_id": "u", "message": "\xed\xa0\x80"}',
        b'{"user_id": "u", "message": "\xf0\x9f\x98"}',
        GOOD.encode("utf-16"),
        GOOD.encode("utf-32-le"),
        b"\xef\xbb\xbf" + GOOD.encode(),
    ],
)
def test_a_body_that_is_not_plain_utf_8_is_400(web: Web, body: bytes) -> None:
    refused(web, 400, body)


@pytest.mark.fault(7)
@pytest.mark.contract("C11")
@pytest.mark.parametrize(
    "body", ["[]", "[1]", '[{"user_id": "u", "message": "m"}]', '"hi"', "1", "1.5", "true", "null"]
)
def test_json_that_is_not_an_object_is_422(web: Web, body: str) -> None:
    assert refused(web, 422, body)["errors"] == [{"pointer": "#", "detail": "must be a JSON object"}]


@pytest.mark.fault(10)
@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "-Infinity", "1e400", "9" * 5000, str(2**53), "01", "+1", ".5"]
)
def test_a_number_that_json_does_not_have_is_400(web: Web, value: str) -> None:
    refused(web, 400, '{"user_id": "u", "message": ' + value + "}")


def test_a_key_that_comes_twice_is_400(web: Web) -> None:
    refused(web, 400, '{"user_id": "u", "message": "m", "message": "n"}')


@pytest.mark.parametrize("depth", [17, 30_000])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_nesting_is_400_and_no_crash(web: Web, depth: int, opening: str) -> None:
    body = opening * depth
    refused(web, 400 if len(body) <= MAX_BODY_BYTES else 413, body)


@pytest.mark.fault(16)
@pytest.mark.contract("C10")
@pytest.mark.parametrize("size", [MAX_BODY_BYTES + 1, MAX_BODY_BYTES + 2, 10 * MAX_BODY_BYTES])
def test_a_body_over_the_limit_is_413_before_it_is_parsed(web: Web, size: int) -> None:
    refused(web, 413, "{" * size)


@pytest.mark.fault(16)
def test_a_content_length_over_the_limit_is_413_though_nothing_was_sent(web: Web) -> None:
    refused(web, 413, b"", environ_overrides={"CONTENT_LENGTH": str(10**12)})


@pytest.mark.contract("C10")
def test_a_body_of_exactly_the_limit_is_read(web: Web) -> None:
    assert web.send(GOOD.ljust(MAX_BODY_BYTES)).status_code == 200


def chunked(body: bytes) -> dict[str, Any]:
    """A body without a length, as a server hands over a chunked one."""
    return {
        "input_stream": io.BytesIO(body),
        "environ_overrides": {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"},
    }


@pytest.mark.fault(16)
@pytest.mark.parametrize("beyond", [1, 2, MAX_BODY_BYTES])
def test_a_chunked_body_over_the_limit_is_413_though_its_start_is_valid(web: Web, beyond: int) -> None:
    body = GOOD.ljust(MAX_BODY_BYTES + beyond).encode()
    answer = web.client.post("/support/refund-chat", content_type="application/json", **chunked(body))

    problem_of(answer, 413)
    assert web.facade.asked == []


def test_a_chunked_body_within_the_limit_is_read(web: Web) -> None:
    body = GOOD.ljust(MAX_BODY_BYTES).encode()
    answer = web.client.post("/support/refund-chat", content_type="application/json", **chunked(body))

    assert answer.status_code == 200


def test_a_body_cut_short_is_400_though_what_came_is_valid(web: Web) -> None:
    answer = web.client.post(
        "/support/refund-chat",
        content_type="application/json",
        input_stream=io.BytesIO(GOOD.encode()),
        environ_overrides={"wsgi.input_terminated": True, "CONTENT_LENGTH": "500"},
    )

    problem_of(answer, 400)
    assert web.facade.asked == []


class Breaks:
    """A body that the server gives up on, with whatever exception it likes."""

    def read(self, *_: object) -> bytes:
        raise RuntimeError("chunk of size ghijk")


def test_a_body_that_the_server_cannot_read_is_400(web: Web) -> None:
    answer = web.client.post(
        "/support/refund-chat",
        content_type="application/json",
        environ_overrides={"wsgi.input": Breaks(), "wsgi.input_terminated": True},
    )

    problem_of(answer, 400)
    assert web.facade.asked == []


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "utf-8"])
def test_a_compressed_body_is_415(web: Web, coding: str) -> None:
    refused(web, 415, GOOD, headers={"Content-Encoding": coding})


def test_a_problem_never_repeats_what_was_sent(web: Web) -> None:
    for body in ('{"user_id": "CANARY", "message": "CANARY" CANARY}', json.dumps({"user_id": "\x00CANARY"})):
        assert "CANARY" not in web.send(body).text
