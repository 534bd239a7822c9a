"""What a provider's answer means: a pure reading of a body, no network and no SDK types.

The body is read from its JSON because a completion object is built without checks: a provider that
answers with something else gives a list, a None or an `IndexError` three lines later. Everything kept
here is safe to store and to send back in the next call.
"""

import json
import re
from typing import Any, Final, TypeAlias, cast

import structlog

from refund_agent import strict_json
from refund_agent.adapters.httpx_wall import MAX_ANSWER_BYTES
from refund_agent.ports import Completed, CompletionFailed
from refund_agent.turn import MAX_ARGUMENTS_BYTES, AssistantMessage, ToolCall

log = structlog.stdlib.get_logger(__name__)

MAX_COMPLETION_TOKENS: Final = 1024
"""What one completion may cost. A completion that used them all is cut, whatever it says of itself."""

MAX_TOKENS: Final = 10_000_000
"""No completion costs more; five of them fit the column that sums them."""

MAX_CONTENT_LENGTH: Final = 32_000
MAX_TOOL_CALLS: Final = 32
MAX_ID_LENGTH: Final = 40
"""What OpenAI takes back; a longer id would make the next call fail."""

KEPT_OF_LONG_ARGUMENTS: Final = 200

INVALID_NAME: Final = "invalid_call"
"""Stands in the history for a name that the provider would refuse to read back."""

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_UNSAFE: Final = re.compile("[\x00\ud800-\udfff]")

_Object: TypeAlias = dict[str, Any]


def read_completion(body: bytes) -> Completed | CompletionFailed:
    """Read the body of an HTTP 200: one completion, or why it is none."""
    try:
        answer = strict_json.parse(body, max_bytes=MAX_ANSWER_BYTES)
    except strict_json.NotJson as reason:
        return CompletionFailed(f"not a completion: {reason}")
    if not isinstance(answer, dict):
        return CompletionFailed("not a completion: not a JSON object")
    fields = cast("_Object", answer)
    if fields.get("error"):
        return CompletionFailed("the provider answered with an error")
    choices = fields.get("choices")
    # Only the first is asked for, and only the first is read.
    choice = cast("list[object]", choices)[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        return CompletionFailed("not a completion: no choices")
    message = cast("_Object", choice).get("message")
    if not isinstance(message, dict):
        return CompletionFailed("not a completion: no message")
    return _read_choice(cast("_Object", choice), cast("_Object", message), fields.get("usage"))


def _read_choice(choice: _Object, message: _Object, usage: object) -> Completed | CompletionFailed:
    content = message.get("content")
    if content is None:
        content = ""
    if not isinstance(content, str):
        return CompletionFailed("not a completion: the content is not text")
    # `function_call` is how the calls of 2023 looked. It has no id, so it cannot be answered as itself.
    legacy = message.get("function_call")
    calls = message.get("tool_calls") or ([{"type": "function_call"}] if legacy else [])
    if not isinstance(calls, list):
        return CompletionFailed("not a completion: the tool calls are not a list")
    entries = cast("list[object]", calls)
    if len(entries) > MAX_TOOL_CALLS:
        return CompletionFailed(f"more than {MAX_TOOL_CALLS} tool calls in one message")
    finish = choice.get("finish_reason")
    if finish == "content_filter" or message.get("refusal"):
        log.warning("completion_refused", finish_reason=_safe(str(finish))[:40])
    return Completed(
        AssistantMessage(
            content=_safe(content[:MAX_CONTENT_LENGTH]),
            tool_calls=_read_calls(entries),
        ),
        truncated=finish == "length" or _used_all(usage),
        tokens=_tokens(usage, "total_tokens"),
        read_tokens=_tokens(usage, "prompt_tokens"),
    )


def _tokens(usage: object, name: str) -> int:
    """Return one of the completion's counts of tokens; 0 when it is not said in a way to rely on."""
    total = cast("_Object", usage).get(name) if isinstance(usage, dict) else None
    if isinstance(total, bool) or not isinstance(total, int):
        return 0
    return min(max(0, total), MAX_TOKENS)


def _used_all(usage: object) -> bool:
    if not isinstance(usage, dict):
        return False
    used = cast("_Object", usage).get("completion_tokens")
    return isinstance(used, int) and used >= MAX_COMPLETION_TOKENS


def _read_calls(entries: list[object]) -> tuple[ToolCall, ...]:
    """Normalise the calls of one message, each under an id of its own by which it can be answered."""
    objects = [cast("_Object", entry) if isinstance(entry, dict) else {} for entry in entries]
    given = [_usable_id(call.get("id")) for call in objects]
    taken = set(given)
    calls: list[ToolCall] = []
    for index, call in enumerate(objects):
        call_id = given[index]
        if not call_id or call_id in given[:index]:
            free = (f"call_{n}" for n in range(index, index + 2 * MAX_TOOL_CALLS) if f"call_{n}" not in taken)
            call_id = next(free)
            taken.add(call_id)
        calls.append(_read_call(call, call_id))
    return tuple(calls)


def _usable_id(given: object) -> str:
    """Return the call's id if it can be sent back as it is, else nothing."""
    if not isinstance(given, str) or not given.strip() or len(given) > MAX_ID_LENGTH:
        return ""
    return "" if _UNSAFE.search(given) else given


def _read_call(call: _Object, call_id: str) -> ToolCall:
    """Normalise one tool call. What cannot be read becomes its `problem`, and it will never run."""
    function = call.get("function")
    known = cast("_Object", function) if isinstance(function, dict) else {}
    problems: list[str] = []
    if call.get("type", "function") != "function" or not known:
        problems.append("this is not a function call; use the tools as they are declared")
    name = known.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        problems.append("the tool's name is missing or not a valid name")
        name = INVALID_NAME
    arguments, problem = _read_arguments(known.get("arguments"))
    if problem:
        problems.append(problem)
    return ToolCall(call_id, name, arguments, problem=problems[0] if problems else "")


def _read_arguments(given: object) -> tuple[str, str]:
    """Return the arguments as a string that can be sent back, and what is wrong with them."""
    text = given if isinstance(given, str) else json.dumps(given)
    kept, problem = _safe(text), ""
    if not isinstance(given, str):
        problem = "arguments must be a string that holds a JSON object"
    elif kept != text:
        # Judged before the mending: a mended order id would be another order's.
        problem = "arguments contain a NUL character or a lone surrogate"
    if len(kept.encode()) > MAX_ARGUMENTS_BYTES:
        return kept[:KEPT_OF_LONG_ARGUMENTS], f"arguments are longer than {MAX_ARGUMENTS_BYTES} bytes"
    return kept, problem


def _safe(text: str) -> str:
    """Replace what no store can keep and no later request can carry."""
    return _UNSAFE.sub("\ufffd", text)
