"""Whatever is sent: the right 4xx and nothing stored, or 200 and exactly what was sent. Never a 500."""

import json
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from tests.functional.web.conftest import Web, problem_of

EXAMPLES = settings(max_examples=150, deadline=None)

any_text = st.text(st.characters(exclude_categories=())) | st.text(max_size=3)
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)
bodies = st.fixed_dictionaries(
    {}, optional={"user_id": any_text | any_json, "message": any_text | any_json, "other": any_json}
)
WEB = Web()


def send(body: bytes, **more: Any) -> None:
    """Send a body and check that the answer and what was asked agree."""
    WEB.facade.asked.clear()
    answer = WEB.send(body, **more)
    if answer.status_code == 200:
        sent = json.loads(body)
        assert [{"user_id": new.user_id, "message": new.message} for new in WEB.facade.asked] == [sent]
    else:
        assert answer.status_code in {400, 413, 415, 422}
        problem_of(answer, answer.status_code)
        assert WEB.facade.asked == []


@EXAMPLES
@given(st.binary(max_size=200))
def test_any_bytes(body: bytes) -> None:
    send(body)


@EXAMPLES
@given(any_json)
def test_any_json(value: Any) -> None:
    send(json.dumps(value).encode())


@EXAMPLES
@given(bodies)
def test_any_fields(body: dict[str, Any]) -> None:
    send(json.dumps(body).encode())


@EXAMPLES
@given(st.text(st.characters(codec="latin-1", exclude_characters="\r\n\x00"), max_size=60))
def test_any_content_type(content_type: str) -> None:
    send(b'{"user_id": "u", "message": "m"}', content_type=content_type)
