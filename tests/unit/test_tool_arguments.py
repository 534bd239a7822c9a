"""Arguments are validated before the tool runs, and a mistake is that call's error and nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import ValidationError

from refund_agent.tools import MAX_ORDER_ID_LENGTH, IssueRefundArguments
from refund_agent.turn import MAX_ARGUMENTS_BYTES, ToolCall
from tests.unit.desk import Desk
from tests.unit.spy_tool import Spy, arguments

fault = pytest.mark.fault
contract = pytest.mark.contract


@pytest.fixture
def spy() -> Spy:
    return Spy()


# --- Valid calls ----------------------------------------------------------------------------------


def test_valid_arguments_reach_the_tool_as_they_are(spy: Spy) -> None:
    assert spy.call(arguments("ORD-1001", 4999)) == {"ran": True}
    assert spy.ran == [{"order_id": "ORD-1001", "amount_cents": 4999}]


@pytest.mark.parametrize("amount", [1, 2**53 - 1])
def test_the_smallest_and_the_greatest_exact_amounts_are_valid(spy: Spy, amount: int) -> None:
    spy.call(arguments(amount_cents=amount))
    assert spy.ran[0]["amount_cents"] == amount


@pytest.mark.parametrize("order_id", ["../x", "a/b", "a?x=1", "a#f", "%2e%2e", "a b", " A1 ", "x" * 128])
@fault(185)
def test_an_order_id_that_looks_like_a_path_goes_on_unchanged(spy: Spy, desk: Desk, order_id: str) -> None:
    spy.call(arguments(order_id))
    desk.answer(ToolCall("c", "issue_refund", arguments(order_id)))

    assert spy.ran[0]["order_id"] == order_id
    assert desk.payments.requests == [(order_id, 500)]


@pytest.mark.parametrize("order_id", ["А1", "Ａ１", "ORD‑1", "ﬁ-1", "A\u0301-1", "ord-1", "Ord-1", "straße"])  # noqa: RUF001 - look-alikes are the point
@fault(188, 190)
def test_an_order_id_is_never_folded_into_another(spy: Spy, order_id: str) -> None:
    spy.call(arguments(order_id))
    assert spy.ran[0]["order_id"] == order_id


@pytest.mark.parametrize(
    "order_id", ["'; DROP TABLE refunds; --", "$(rm -rf /)", "`id`", "{{7*7}}", "%(x)s", "${HOME}", "=1+1"]
)
@fault(194)
def test_code_in_an_order_id_is_data(spy: Spy, desk: Desk, order_id: str) -> None:
    spy.call(arguments(order_id))
    desk.answer(ToolCall("c", "issue_refund", arguments(order_id)))

    assert spy.ran[0]["order_id"] == order_id
    assert desk.payments.requests == [(order_id, 500)]


# --- Arguments that are not one JSON object -------------------------------------------------------


@pytest.mark.parametrize("text", ["", " ", "\n\t", "null", '"null"'])
@fault(163)
@contract("C25")
def test_absent_arguments_are_an_error_and_not_an_empty_object(spy: Spy, text: str) -> None:
    assert "JSON" in spy.refuses(text)


@pytest.mark.parametrize("text", [arguments() * 2, arguments() + " ok", arguments() + "]", arguments()[:-1]])
@fault(165)
@contract("C25")
def test_two_values_or_junk_behind_one_are_an_error(spy: Spy, text: str) -> None:
    assert "not valid JSON" in spy.refuses(text)


@fault(166)
def test_a_byte_order_mark_is_an_error(spy: Spy) -> None:
    assert "byte order mark" in spy.refuses("\ufeff" + arguments())


@pytest.mark.parametrize("text", ["[]", '["A1", 500]', '"A1"', "500", "1.5", "true", "null"])
@fault(167)
def test_json_that_is_no_object_is_an_error(spy: Spy, text: str) -> None:
    assert spy.refuses(text) == "arguments must be a JSON object"


@pytest.mark.parametrize("opening", ["[", '{"order_id":'])
@fault(179)
def test_bottomless_nesting_is_an_error(spy: Spy, opening: str) -> None:
    assert "not valid JSON" in spy.refuses(opening * 100_000)
    assert "nested" in spy.refuses(opening * 300)


@fault(180)
def test_a_megabyte_of_arguments_is_an_error_with_a_short_echo(spy: Spy) -> None:
    refusal = spy.refuses(arguments("A" * 1_000_000))

    assert f"longer than {MAX_ARGUMENTS_BYTES}" in refusal
    assert len(refusal) <= 200


def test_a_key_given_twice_is_an_error(spy: Spy) -> None:
    assert "twice" in spy.refuses('{"order_id": "A1", "amount_cents": 1, "amount_cents": 500}')


# --- Keys -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key", ["currency", "user_id", "__proto__", "__class__", "Order_id", "order_id ", ""]
)
@fault(169)
@contract("C23", "C27")
def test_an_extra_key_is_an_error(spy: Spy, key: str) -> None:
    assert "Unknown field" in spy.refuses(arguments(**{key: 1}))


@pytest.mark.parametrize("text", ["{}", '{"order_id": "A1"}', '{"amount_cents": 500}', '{"orderId": "A1"}'])
@fault(170)
@contract("C23", "C27")
def test_a_missing_argument_is_an_error(spy: Spy, text: str) -> None:
    assert "invalid arguments" in spy.refuses(text)


# --- The amount -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "amount", ["true", "false", "null", '"500"', '"1_000"', r'"\u0665\u0660\u0660"', "[500]", '{"cents": 5}']
)
@fault(171)
@contract("C24", "C27")
def test_an_amount_of_another_type_is_an_error(spy: Spy, amount: str) -> None:
    assert "amount_cents" in spy.refuses(f'{{"order_id": "A1", "amount_cents": {amount}}}')


@pytest.mark.parametrize(
    "amount",
    [
        pytest.param("1.0", marks=fault(172)),
        pytest.param("1e2", marks=fault(172)),
        pytest.param("100.0", marks=fault(172)),
        pytest.param("1E+2", marks=fault(172)),
        pytest.param("100.5", marks=fault(173)),
        pytest.param("0.1", marks=fault(173)),
        pytest.param("49.99", marks=fault(173)),
    ],
)
def test_an_amount_written_as_a_fraction_is_an_error_even_when_it_is_whole(spy: Spy, amount: str) -> None:
    assert "whole number" in spy.refuses(f'{{"order_id": "A1", "amount_cents": {amount}}}')


@pytest.mark.parametrize("amount", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
@fault(175)
def test_an_amount_that_is_no_json_number_is_an_error(spy: Spy, amount: str) -> None:
    assert "not valid JSON" in spy.refuses(f'{{"order_id": "A1", "amount_cents": {amount}}}')


@pytest.mark.parametrize("amount", ["0", "-0", "-1", "-500"])
@fault(176)
@contract("C27")
def test_an_amount_that_is_not_positive_is_an_error(spy: Spy, amount: str) -> None:
    assert "positive" in spy.refuses(f'{{"order_id": "A1", "amount_cents": {amount}}}')


@pytest.mark.parametrize("amount", [2**53, 2**63, 10**30])
@fault(177)
def test_an_amount_that_not_every_peer_reads_exactly_is_an_error(spy: Spy, amount: int) -> None:
    assert "too large" in spy.refuses(arguments(amount_cents=amount))


# --- The order id ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order_id", ["", " ", "   ", "\u3000", "\u00a0"])
@fault(181)
@contract("C27")
def test_an_empty_or_blank_order_id_is_an_error(spy: Spy, order_id: str) -> None:
    assert "empty" in spy.refuses(arguments(order_id))


@pytest.mark.parametrize(
    "character",
    [
        *(pytest.param(c, marks=fault(181)) for c in "\u200b\u200d\u202e\u2066\ufeff\u00ad\x85\x7f\u2028"),
        pytest.param("\U000e0041", marks=fault(181), id="tag-character"),
        pytest.param("\x00", marks=[fault(183), contract("C81")], id="nul"),
        pytest.param("\ud800", marks=contract("C81"), id="lone-surrogate"),
        *(pytest.param(c, marks=fault(186)) for c in ("\r\n", "\n", "\t", "\x1b[31m")),
    ],
)
def test_an_order_id_with_a_control_or_invisible_character_is_an_error(spy: Spy, character: str) -> None:
    for order_id in (character, f"A{character}1", f"A1{character}", f"{character}A1"):
        spy.refuses(arguments(order_id))


@pytest.mark.parametrize("order_id", [1001, 1.5, True, False, None, ["A1"], {"id": "A1"}])
@fault(182)
@contract("C24", "C27")
def test_an_order_id_of_another_type_is_an_error(spy: Spy, order_id: object) -> None:
    assert "order_id" in spy.refuses(arguments(order_id))


@pytest.mark.parametrize("length", [MAX_ORDER_ID_LENGTH + 1, 10_000])
@fault(189)
def test_an_order_id_that_is_too_long_is_an_error(spy: Spy, length: int) -> None:
    spy.refuses(arguments("A" * length))


@fault(192)
def test_an_order_id_as_bytes_is_an_error() -> None:
    with pytest.raises(ValidationError, match="must be a string"):
        IssueRefundArguments().load({"order_id": b"A1", "amount_cents": 500})


# --- Whatever the model writes --------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
near_misses = st.fixed_dictionaries(
    {},
    optional={
        "order_id": st.just("A1") | st.text(max_size=200) | json_values,
        "amount_cents": st.integers() | json_values,
        "currency": json_values,
    },
).map(json.dumps)


@given(near_misses | st.text(max_size=300) | json_values.map(json.dumps))
@contract("C24", "C29")
def test_whatever_the_arguments_the_tool_runs_with_valid_ones_or_not_at_all(text: str) -> None:
    spy = Spy()
    answer = spy.call(text)

    if "error" in answer:
        assert spy.ran == []
    else:
        (ran,) = spy.ran
        assert ran == json.loads(text)
        assert set(ran) == {"order_id", "amount_cents"}
        assert type(ran["amount_cents"]) is int
        assert 1 <= ran["amount_cents"] <= 2**53 - 1
        assert isinstance(ran["order_id"], str)
        assert 1 <= len(ran["order_id"].strip()) <= len(ran["order_id"]) <= MAX_ORDER_ID_LENGTH
