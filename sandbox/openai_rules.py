"""What OpenAI's chat completions refuse in a request, so that a wrong history shows in a test.

The wording follows what the real service answers (public bug reports quote it), with the same `param`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.answers import Json, is_array, is_object

ROLES = ("system", "developer", "user", "assistant", "tool")
MAX_CALL_ID_LENGTH = 40
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a request is refused with 400."""

    message: str
    param: str | None = None


def objection(body: Json) -> Objection | None:
    """Return the first thing that OpenAI would refuse, or None."""
    return next(_objections(body), None)


def _objections(body: Json) -> Iterator[Objection]:
    if not is_object(body):
        yield Objection("We could not parse the JSON body of your request.")
        return
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield Objection("you must provide a model parameter")
    if body.get("stream"):
        yield Objection("the sandbox does not stream", "stream")
    messages = body.get("messages")
    if not is_array(messages):
        yield Objection("Missing required parameter: 'messages'.", "messages")
        return
    if not messages:
        yield _empty_array("messages")
    yield from _tools(body)
    for i, message in enumerate(messages):
        yield from _message(message, f"messages[{i}]")
    yield from _order(messages)


def _tools(body: Json) -> Iterator[Objection]:
    tools = body.get("tools")
    if tools is None:
        for name in ("tool_choice", "parallel_tool_calls"):
            if name in body:
                yield Objection(
                    f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.", name
                )
        return
    if not tools:
        yield _empty_array("tools")
    for i, tool in enumerate(tools):
        match tool:
            case {"type": "function", "function": {"name": str(name)}} if _NAME.fullmatch(name):
                pass
            case _:
                yield Objection(f"Invalid 'tools[{i}]': expected a function with a name.", f"tools[{i}]")


def _message(message: Json, where: str) -> Iterator[Objection]:
    """Judge one message by itself."""
    if not is_object(message):
        yield _wrong_type(where, "an object", message)
        return
    role = message.get("role")
    if role not in ROLES:
        supported = ", ".join(f"'{name}'" for name in ROLES)
        yield Objection(f"Invalid value: {role!r}. Supported values are: {supported}.", f"{where}.role")
        return
    content = message.get("content")
    may_be_null = role == "assistant" and ("tool_calls" in message or message.get("refusal"))
    if not isinstance(content, str | list) and not (content is None and may_be_null):
        yield Objection(
            f"Invalid value for 'content': expected a string, got {_kind(content)}.", f"{where}.content"
        )
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        yield Objection(
            f"Missing parameter 'tool_call_id': {where} with role 'tool' must have it.",
            f"{where}.tool_call_id",
        )
    if role == "assistant" and "tool_calls" in message:
        yield from _tool_calls(message["tool_calls"], f"{where}.tool_calls")


def _tool_calls(tool_calls: Json, where: str) -> Iterator[Objection]:
    if not is_array(tool_calls):
        yield _wrong_type(where, "an array of objects", tool_calls)
        return
    if not tool_calls:
        yield _empty_array(where)
    for i, call in enumerate(tool_calls):
        yield from _tool_call(call, f"{where}[{i}]")


def _tool_call(call: Json, where: str) -> Iterator[Objection]:
    if not is_object(call):
        yield _wrong_type(where, "an object", call)
        return
    call_id, function = call.get("id"), call.get("function")
    if not isinstance(call_id, str) or not call_id:
        yield _wrong_type(f"{where}.id", "a string", call_id)
    elif len(call_id) > MAX_CALL_ID_LENGTH:
        yield Objection(
            f"Invalid '{where}.id': string too long. Expected a string with maximum length "
            f"{MAX_CALL_ID_LENGTH}, but got a string with length {len(call_id)} instead.",
            f"{where}.id",
        )
    if call.get("type") != "function":
        yield Objection(
            f"Invalid value: {call.get('type')!r}. Supported values are: 'function'.", f"{where}.type"
        )
    if not is_object(function):
        yield _wrong_type(f"{where}.function", "an object", function)
        return
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield Objection(
            f"Invalid '{where}.function.name': expected a string that matches the pattern "
            "'^[a-zA-Z0-9_-]+$', at most 64 characters.",
            f"{where}.function.name",
        )
    if not isinstance(arguments, str):
        yield _wrong_type(f"{where}.function.arguments", "a string", arguments)


def _order(messages: list[Json]) -> Iterator[Objection]:
    """Judge whether every call is answered by its own id, right after it, and nothing else is."""
    open_calls: set[str] = set()
    answered: dict[str, int] = {}
    for i, message in enumerate(messages):
        if message["role"] == "tool":
            yield from _tool_message(i, message["tool_call_id"], open_calls, answered)
            continue
        yield from _unanswered(open_calls, i)
        answered = {}
        open_calls = {call["id"] for call in message.get("tool_calls") or ()}
    yield from _unanswered(open_calls, len(messages))


def _tool_message(
    i: int, call_id: str, open_calls: set[str], answered: dict[str, int]
) -> Iterator[Objection]:
    if call_id in answered:
        yield Objection(
            f"Invalid parameter: Duplicate value for 'tool_call_id' of '{call_id}', "
            f"in messages[{answered[call_id]}] and messages[{i}].",
            f"messages.[{i}].tool_call_id",
        )
    elif not open_calls and not answered:
        yield Objection(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
            "with 'tool_calls'.",
            f"messages.[{i}].role",
        )
    elif call_id not in open_calls:
        yield Objection(
            f"Invalid parameter: 'tool_call_id' of '{call_id}' not found in 'tool_calls' of "
            "previous message.",
            f"messages.[{i}].tool_call_id",
        )
    open_calls.discard(call_id)
    answered[call_id] = i


def _unanswered(open_calls: set[str], i: int) -> Iterator[Objection]:
    if open_calls:
        missing = ", ".join(sorted(open_calls))
        yield Objection(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {missing}",
            f"messages.[{i}].role",
        )


def _empty_array(where: str) -> Objection:
    return Objection(
        f"Invalid '{where}': empty array. Expected an array with minimum length 1, "
        "but got an empty array instead.",
        where,
    )


def _wrong_type(where: str, wanted: str, got: Json) -> Objection:
    return Objection(f"Invalid type for '{where}': expected {wanted}, but got {_kind(got)} instead.", where)


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    names = {
        "bool": "a boolean",
        "int": "an integer",
        "float": "a decimal",
        "str": "a string",
        "list": "an array",
    }
    return names.get(value.__class__.__name__, "an object")
