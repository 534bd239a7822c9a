"""The model's named scripts: what they ask for and what they say."""

import re
from typing import Any

import openai
import pytest

from sandbox.scripts import SCRIPTS, find_script
from tests.unit.sandbox.scripted_turn import MAX_TOKENS, MODEL, Turn, is_valid

ROUNDS: dict[str, list[list[bool]]] = {
    "plain": [[True]],
    "two-calls": [[True, True]],
    "two-rounds": [[True], [True]],
    "ten-calls": [[False] * 5 + [True] + [False] * 4],
    "text-and-call": [[True]],
    "finish-stop-with-calls": [[True]],
    "bad-json": [[False], [True]],
    "unknown-tool": [[False], [True]],
    "extra-argument": [[False], [True]],
    "float-amount": [[False], [True]],
    "custom-tool-call": [[False], [True]],
    "dict-arguments": [[False], [True]],
    "null-arguments": [[False], [True]],
    "null-function": [[False], [True]],
    "null-id": [[True]],
    "length-cut": [[False], [True]],
    "length-whole": [[True], [True]],
    "nul-with-call": [[True]],
    "surrogate-with-call": [[True]],
}
"""The calls of each round, and whether each is valid."""


@pytest.mark.parametrize("script", ROUNDS)
def test_a_script_asks_in_its_rounds_and_then_reports(sdk: openai.OpenAI, script: str) -> None:
    turn = Turn(sdk, script)
    for expected in ROUNDS[script]:
        assert [is_valid(call) for call in turn.calls()] == expected
    assert "rf_1" in turn.complete().choices[0].message.content


@pytest.mark.parametrize("script", ["five-rounds", "same-refused-call"])
def test_a_script_asks_for_ever(sdk: openai.OpenAI, script: str) -> None:
    turn = Turn(sdk, script)
    rounds = [[is_valid(call) for call in turn.calls()] for _ in range(6)]
    assert rounds == [[script == "five-rounds"]] * 6


TEXTS: dict[str, tuple[str, str | None]] = {
    "empty-text": ("stop", ""),
    "null-text": ("stop", None),
    "refusal": ("stop", None),
    "content-filter": ("content_filter", ""),
    "length-text": ("length", "I have looked at your"),
    "nul-in-content": ("stop", "All\x00 is well."),
    "surrogate-in-content": ("stop", "All \ud800 is well."),
    "false-claim": ("stop", "I have refunded you in full, the money is on its way."),
    "finish-tool-calls-empty": ("tool_calls", "All is well."),
    "legacy-function-call": ("function_call", None),
    "role-user": ("stop", "All is well."),
    "two-choices": ("stop", "I can refund that for you."),
}


@pytest.mark.parametrize("script", TEXTS)
def test_a_script_says_its_text(sdk: openai.OpenAI, script: str) -> None:
    choice = Turn(sdk, script).complete().choices[0]
    assert (choice.finish_reason, choice.message.content) == TEXTS[script]
    assert not choice.message.tool_calls


def test_details_that_a_reader_may_trip_over_are_there(sdk: openai.OpenAI) -> None:
    assert Turn(sdk, "refusal").complete().choices[0].message.refusal is not None
    assert Turn(sdk, "role-user").complete().choices[0].message.role == "user"
    assert Turn(sdk, "legacy-function-call").complete().choices[0].message.function_call is not None
    assert Turn(sdk, "two-choices").complete().choices[1].message.tool_calls
    assert Turn(sdk, "null-id").complete().choices[0].message.tool_calls[0].id is None
    assert Turn(sdk, "message-null").complete().choices[0].message is None
    assert Turn(sdk, "choices-null").complete().choices is None
    assert Turn(sdk, "choices-missing").complete().choices is None
    assert Turn(sdk, "choices-empty").complete().choices == []
    assert Turn(sdk, "error-object-200").complete().error["message"] == "overloaded"
    assert len(Turn(sdk, "big-content").complete().choices[0].message.content) > 1_000_000


def test_a_cut_completion_has_used_all_the_tokens_it_may(sdk: openai.OpenAI) -> None:
    cut = Turn(sdk, "length-cut").complete()
    assert (cut.choices[0].finish_reason, cut.usage.completion_tokens) == ("length", MAX_TOKENS)


NOT_OBJECTS = {"not-an-object-list": [1], "not-an-object-string": "hi", "not-an-object-null": None}


@pytest.mark.parametrize("script", NOT_OBJECTS)
def test_an_answer_may_be_no_object_at_all(sdk: openai.OpenAI, script: str) -> None:
    assert Turn(sdk, script).complete() == NOT_OBJECTS[script]


def test_a_script_can_be_tied_to_completions_of_a_turn(sdk: openai.OpenAI) -> None:
    turn = Turn(sdk, "timeout-on-1-and-3")
    assert turn.times_out()
    assert [is_valid(call) for call in turn.calls()] == [True]
    assert turn.times_out()
    assert "rf_1" in turn.complete().choices[0].message.content


def test_a_timeout_twice_after_the_refund(sdk: openai.OpenAI) -> None:
    turn = Turn(sdk, "timeout-twice-after-refund")
    assert [is_valid(call) for call in turn.calls()] == [True]
    assert turn.times_out()
    assert turn.times_out()


@pytest.mark.parametrize("name", ["timeout-on-5", "timeout-on-1-2", "timeout-on-1-and-2", "http-500-on-2"])
def test_the_form_that_ties_a_script_to_completions(name: str) -> None:
    assert find_script(name) is not None


@pytest.mark.parametrize("name", ["", "nope", "timeout-on-", "timeout-on-x", "nope-on-1", "timeout-on-1-and"])
def test_anything_else_is_no_script(name: str) -> None:
    assert find_script(name) is None


def test_without_a_request_id_the_assistants_messages_are_counted(sdk: openai.OpenAI) -> None:
    message: Any = {"role": "user", "content": "[http-500-on-1] hello"}
    with pytest.raises(openai.InternalServerError):
        sdk.chat.completions.create(model=MODEL, messages=[message])
    said: Any = {"role": "assistant", "content": "Hi."}
    sdk.chat.completions.create(model=MODEL, messages=[said, message])


def test_a_script_that_does_not_exist_says_so_in_the_chat(sdk: openai.OpenAI) -> None:
    text = Turn(sdk, "no-such-script").complete().choices[0].message.content
    assert text == "There is no script called no-such-script; GET /v1/scripts.json lists them."


def test_a_script_is_named_in_lower_case_so_that_a_message_can_start_with_it() -> None:
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in SCRIPTS)
