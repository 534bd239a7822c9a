"""A text is one JSON value that every peer reads alike, or `NotJson` says why not."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from refund_agent import strict_json
from refund_agent.strict_json import MAX_DEPTH, MAX_INTEGER, NotJson, parse

LIMIT = 200_000

characters = st.characters(exclude_categories=["Cs"])
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(characters)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(characters), inner, max_size=4),
    max_leaves=12,
)


def depth(value: Any) -> int:
    """The slow oracle: how deep a parsed value nests."""
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 0


def refusal(text: str | bytes, max_bytes: int = LIMIT) -> str:
    with pytest.raises(NotJson) as refused:
        parse(text, max_bytes=max_bytes)
    return str(refused.value)


# --- What is taken --------------------------------------------------------------------------------


@given(values, st.booleans(), st.sampled_from([None, 1]))
def test_what_json_writes_is_read_back_the_same(value: Any, ascii_only: bool, indent: int | None) -> None:  # noqa: FBT001 - drawn
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)

    if depth(value) <= MAX_DEPTH:
        assert parse(text, max_bytes=LIMIT) == value
        assert parse(text.encode(), max_bytes=LIMIT) == value
    else:
        assert "nested" in refusal(text)


@given(st.lists(st.sampled_from("[]{}"), max_size=40), st.text(characters))
@example(list("[{") * 9 + list("}]") * 9, "")
def test_nesting_gets_the_same_verdict_as_a_slow_count(brackets: list[str], inside: str) -> None:
    text = "".join(brackets)
    deepest = running = 0
    for bracket in brackets:
        running += 1 if bracket in "[{" else -1
        deepest = max(deepest, running)

    too_deep = "nested" in refusal(text + json.dumps(inside) + "!")

    assert too_deep == (deepest > MAX_DEPTH)


@given(values, st.integers(1, 2 * MAX_DEPTH))
def test_a_value_is_taken_exactly_up_to_the_greatest_depth(value: Any, wrappers: int) -> None:
    for _ in range(wrappers):
        value = [value]

    if depth(value) <= MAX_DEPTH:
        assert parse(json.dumps(value), max_bytes=LIMIT) == value
    else:
        assert "nested" in refusal(json.dumps(value))


def test_a_value_may_be_as_wide_as_its_length_allows() -> None:
    assert parse("[" + "[]," * 1000 + '{"a": {}}]', max_bytes=LIMIT) == [*[[]] * 1000, {"a": {}}]


def test_brackets_inside_a_string_are_not_nesting() -> None:
    text = '["' + "[{" * 1000 + r"\"[\\" + '"]'

    assert parse(text, max_bytes=LIMIT) == ["[{" * 1000 + '"[\\']


@pytest.mark.parametrize("number", [MAX_INTEGER, -MAX_INTEGER, 0])
def test_the_greatest_exact_integers_are_taken(number: int) -> None:
    assert parse(str(number), max_bytes=LIMIT) == number


def test_exactly_the_greatest_length_is_taken() -> None:
    assert parse('"12345678"', max_bytes=10) == "12345678"
    assert "longer than 10" in refusal('"123456789"', max_bytes=10)
    assert "longer than 10" in refusal('"123456€"'.encode(), max_bytes=10)


# --- What is refused ------------------------------------------------------------------------------


@given(st.binary(max_size=200))
@example(b'{"a": 1, "a": 2}')
@example(b"\xff\xfe[\x00]\x00")
@example(b"\xef\xbb\xbf{}")
@example(b'"\xed\xa0\x80"')
def test_arbitrary_bytes_raise_nothing_but_not_json(data: bytes) -> None:
    try:
        value = parse(data, max_bytes=LIMIT)
    except NotJson:
        return
    assert json.loads(data) == value


@given(st.text(st.sampled_from('[]{}",:\\0123456789.eE+-tfnull \ud800\x00é'), max_size=60))
def test_arbitrary_text_of_json_characters_raises_nothing_but_not_json(text: str) -> None:
    try:
        value = parse(text, max_bytes=LIMIT)
    except NotJson:
        return
    assert json.loads(text) == value


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "[1, NaN]", "1e400", "-1e400"])
def test_a_number_that_json_does_not_know_is_refused(text: str) -> None:
    assert "not JSON" in refusal(text) or "too large" in refusal(text)


@pytest.mark.parametrize("digits", [str(2**53), str(-(2**53)), str(2**63), "1" + "0" * 30, "9" * 5000])
def test_an_integer_that_not_every_peer_reads_exactly_is_refused(digits: str) -> None:
    assert "too large to be exact" in refusal(digits)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', r'{"a": 1, "\u0061": 2}', '[{"x": {"b": 0, "b": 0}}]'])
def test_a_key_that_appears_twice_is_refused(text: str) -> None:
    assert "twice" in refusal(text)


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
def test_bottomless_nesting_is_refused_before_the_parser_recurses(bracket: str) -> None:
    assert "nested" in refusal(bracket * 30_000)


def test_a_byte_order_mark_is_refused() -> None:
    assert "byte order mark" in refusal("\ufeff{}")
    assert "byte order mark" in refusal("{}".encode("utf-8-sig"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin-1"])
def test_bytes_in_another_encoding_are_refused(encoding: str) -> None:
    assert "UTF-8" in refusal('{"message": "é"}'.encode(encoding))


@pytest.mark.parametrize(
    "text", ["", " ", "{}{}", "{} x", "[1,]", "{'a': 1}", '"\n"', "nul", "01", "+1", ".5"]
)
def test_anything_but_one_whole_value_is_refused(text: str) -> None:
    assert "at character" in refusal(text)


def test_a_refusal_never_quotes_the_text() -> None:
    for text in ['{"secret" 1}', '{"secret": secret}', '"secret\\q"', '{"secret": 1, "secret": 2}']:
        assert "secret" not in refusal(text)


@pytest.mark.parametrize("text", ['"' + "\\" * 100_001, '"' + "a" * 100_000, '"' * 100_001, r'"\"' * 40_000])
@pytest.mark.timeout(2)
def test_a_hostile_text_costs_linear_time(text: str) -> None:
    assert refusal(text)


# --- Characters that no store could carry ---------------------------------------------------------


def test_nul_and_lone_surrogates_are_named() -> None:
    assert strict_json.unsafe_character("a\x00b") == "a NUL character"
    assert strict_json.unsafe_character("a\ud83d") == "a lone surrogate"
    assert strict_json.unsafe_character("\udfff") == "a lone surrogate"


@given(st.text(characters.filter(lambda c: c != "\x00")))
@example("👩‍👩‍👧‍👦")
def test_every_other_text_is_safe_and_can_be_encoded(text: str) -> None:
    assert strict_json.unsafe_character(text) is None
    assert text.encode().decode() == text
