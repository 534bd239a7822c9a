"""What a valid message and user id are."""

import json
from typing import Any

import pytest

from tests.functional.web.conftest import Web, problem_of

FAMILY = "👨\u200d👩\u200d👧\u200d👦"  # four people and three joiners: 7 code points


def refused(web: Web, *fields: str, **values: Any) -> dict[str, Any]:
    """Ask, expect 422 that names the fields, and that nothing was stored, sent or moved."""
    problem = problem_of(web.ask(**values), 422)
    assert [error["pointer"] for error in problem["errors"]] == [f"#/{name}" for name in fields]
    assert all(name in problem["detail"] for name in fields)
    assert problem["refund"] is None
    assert web.facade.asked == []
    return problem


@pytest.mark.fault(12)
@pytest.mark.contract("C7")
@pytest.mark.parametrize("name", ["conversation_id", "Message", "message ", "__proto__", "", "user_id\x00"])
def test_another_field_is_422(web: Web, name: str) -> None:
    problem = problem_of(web.ask(**{name: "x"}), 422)

    assert [error["detail"] for error in problem["errors"]] == ["is not a field of this request"]
    assert web.facade.asked == []


def test_a_thousand_other_fields_are_422_in_a_short_answer(web: Web) -> None:
    answer = web.ask(**{f"{'x' * 50}{number}\ud800/~": 1 for number in range(500)})

    assert len(problem_of(answer, 422)["errors"]) == 10
    assert len(answer.data) < 5000


@pytest.mark.fault(13)
@pytest.mark.contract("C4")
@pytest.mark.parametrize("value", [..., None, 1, 1.5, True, False, [], ["u"], {}, {"id": "u"}])
def test_a_user_id_that_is_not_a_string_is_422(web: Web, value: Any) -> None:
    refused(web, "user_id", user_id=value)


@pytest.mark.fault(13)
@pytest.mark.contract("C5")
@pytest.mark.parametrize("value", [..., None, 1, 1.5, True, False, [], ["m"], {}, {"text": "m"}])
def test_a_message_that_is_not_a_string_is_422(web: Web, value: Any) -> None:
    refused(web, "message", message=value)


def test_every_wrong_field_is_named_at_once(web: Web) -> None:
    refused(web, "user_id", "message", user_id=..., message=5)


BLANK = [
    "",
    " ",
    "\t\r\n",
    "\u00a0\u2003\u3000",
    "\u200b",
    "\u200b\u200d \ufeff",
    "\u2060\u00ad",
    "\ufe0f",
    "\u3164",
    "\u2800",
]


@pytest.mark.fault(14)
@pytest.mark.contract("C5", "C79")
@pytest.mark.parametrize("blank", BLANK)
def test_a_message_without_a_visible_character_is_422(web: Web, blank: str) -> None:
    refused(web, "message", message=blank)


@pytest.mark.contract("C4", "C79")
@pytest.mark.parametrize("blank", BLANK)
def test_a_user_id_without_a_visible_character_is_422(web: Web, blank: str) -> None:
    refused(web, "user_id", user_id=blank)


@pytest.mark.fault(15)
@pytest.mark.contract("C6")
@pytest.mark.parametrize(
    "message", ["m" * 4000, "😀" * 4000, "é" * 4000, FAMILY * 571 + "abc", "e\u0301" * 2000]
)
def test_a_message_of_4000_code_points_is_taken(web: Web, message: str) -> None:
    assert len(message) == 4000
    assert web.ask(message=message).status_code == 200
    assert web.facade.asked[0].message == message


@pytest.mark.fault(15)
@pytest.mark.contract("C6")
@pytest.mark.parametrize("message", ["m" * 4001, "😀" * 4001, FAMILY * 571 + "abcd", "e\u0301" * 2000 + "e"])
def test_a_message_of_4001_code_points_is_422(web: Web, message: str) -> None:
    assert len(message) == 4001
    refused(web, "message", message=message)


@pytest.mark.fault(15)
def test_4000_emoji_fit_even_when_every_one_is_escaped(web: Web) -> None:
    body = json.dumps({"user_id": "😀" * 255, "message": "😀" * 4000}, ensure_ascii=True)

    assert web.send(body).status_code == 200


def test_a_message_is_taken_exactly_as_it_stands(web: Web) -> None:
    message = "  \uff21\u00a0refund,\n\tplease\x1b ½ \u202e e\u0301 "

    assert web.ask(message=message).status_code == 200
    assert web.facade.asked[0].message == message


@pytest.mark.fault(20)
@pytest.mark.contract("C80")
@pytest.mark.parametrize("escape", [r"\ud800", r"\udfff", r"\ude00\ud83d", r"\u0000"])
@pytest.mark.parametrize("name", ["message", "user_id"])
def test_a_lone_surrogate_or_nul_is_422(web: Web, name: str, escape: str) -> None:
    other = "user_id" if name == "message" else "message"
    answer = web.send(f'{{"{other}": "x", "{name}": "a{escape}b"}}')

    assert [error["pointer"] for error in problem_of(answer, 422)["errors"]] == [f"#/{name}"]
    assert web.facade.asked == []


def test_a_pair_of_surrogates_is_one_character(web: Web) -> None:
    assert web.send(r'{"user_id": "u", "message": "\ud83d\ude00"}').status_code == 200
    assert web.facade.asked[0].message == "😀"


@pytest.mark.fault(22)
@pytest.mark.parametrize(
    "bad", ["\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\x9f", "\u2028", "\u2029", "\x00", "\x01"]
)
@pytest.mark.parametrize("around", ["{}", "a{}", "{}b", "a{}b"])
def test_a_control_character_in_a_user_id_is_422(web: Web, around: str, bad: str) -> None:
    refused(web, "user_id", user_id=around.format(bad))


@pytest.mark.fault(22)
@pytest.mark.parametrize("length", [256, 10_000])
def test_a_long_user_id_is_422(web: Web, length: int) -> None:
    refused(web, "user_id", user_id="u" * length)


@pytest.mark.fault(22)
@pytest.mark.parametrize(
    "user_id",
    [
        "a:b",
        "a b",
        " a ",
        "a%b\\c'\"",
        "{{7*7}}",
        "$(id)",
        "Zoë 😀",
        FAMILY,
        "u" * 255,
        "😀" * 255,
        "٣",
        "../..",
        "a,b;c=d",
    ],
)
def test_any_printable_user_id_up_to_255_code_points_is_taken(web: Web, user_id: str) -> None:
    assert web.ask(user_id=user_id).status_code == 200
    assert web.facade.asked[0].user_id == user_id


@pytest.mark.fault(32)
def test_two_requests_with_the_same_text_are_two_turns(web: Web) -> None:
    web.ask(message="ok")
    web.ask(message="ok")

    assert len({new.id for new in web.facade.asked}) == 2
