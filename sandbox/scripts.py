"""Named scripts: `[two-calls] refund 5.00 for order A1` makes the model misbehave in that way.

Scripts are stateless: what one plays depends on how often the model has spoken since the customer's
message. `<script>-on-2` and `<script>-on-1-and-3` play a script at those completions of a turn only, and
plain English at the others.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from sandbox import broken
from sandbox.answers import Reply
from sandbox.completions import Play, calls, fails, gives, hangs, raw, refund_call, resets, says
from sandbox.script_parts import (
    WRONG_ARGUMENTS,
    asks,
    badly,
    choices,
    custom_call,
    cut_json,
    legacy_call,
    message,
    plain,
    rounds,
    two_choices,
    unknown_tool,
    with_field,
    with_raw_arguments,
)

BIG_TEXT = "All is well. " * 80_660
DRIP_SECONDS = 0.05
"""A completion of some 500 bytes takes longer than any completion may, and no single read is late."""

_ON = re.compile(r"(?P<base>.+?)-on-(?P<numbers>[0-9]+(?:(?:-and)?-[0-9]+)*)")


@dataclass(frozen=True, slots=True)
class Script:
    """One row of the table."""

    name: str
    about: str
    play: Play


def find_script(name: str) -> Play | None:
    """Return what `name` plays; None when there is no such script."""
    if name in SCRIPTS:
        return SCRIPTS[name].play
    on = _ON.fullmatch(name)
    if on is None or on["base"] not in SCRIPTS:
        return None
    return _on(SCRIPTS[on["base"]].play, {int(number) for number in re.findall(r"[0-9]+", on["numbers"])})


def _on(play: Play, numbers: set[int]) -> Play:
    """Play at these completions of a turn, and plain English at the others."""
    return lambda conversation: (play if conversation.number in numbers else plain)(conversation)


def scripted(name: str) -> Play:
    """Return what `name` plays, or say in the chat that there is no such script."""
    return find_script(name) or says(f"There is no script called {name}; GET /v1/scripts.json lists them.")


def _rows() -> Iterator[Script]:
    yield from _calls()
    yield from _texts()
    yield from _strange_messages()
    yield from _failures()


def _calls() -> Iterator[Script]:
    good = asks(refund_call)
    middle = list(WRONG_ARGUMENTS.values())
    ten = [*middle[:4], unknown_tool, refund_call, *middle[4:]]
    yield Script(
        "two-calls", "asks for the refund twice in one message", rounds(asks(refund_call, refund_call))
    )
    yield Script("two-rounds", "asks for the refund again after its result", rounds(good, good))
    yield Script("ten-calls", "ten calls in one message, only the sixth is valid", rounds(asks(*ten)))
    yield Script("five-rounds", "asks for the refund for ever", good)
    yield Script(
        "same-refused-call", "asks for the same invalid call for ever", asks(WRONG_ARGUMENTS["a bool"])
    )
    yield Script(
        "text-and-call", "text and a call in one message", rounds(asks(refund_call, content="One moment."))
    )
    yield Script(
        "finish-stop-with-calls",
        "a call, finish_reason stop",
        rounds(asks(refund_call, finish_reason="stop")),
    )
    for name, maker, about in (
        ("bad-json", WRONG_ARGUMENTS["cut JSON"], "arguments that are not JSON"),
        ("unknown-tool", unknown_tool, "a tool that does not exist"),
        ("extra-argument", WRONG_ARGUMENTS["an extra argument"], "an argument that is not declared"),
        ("float-amount", WRONG_ARGUMENTS["a float"], "the amount as a float"),
        ("custom-tool-call", custom_call, "a call of type custom, without a function"),
        ("dict-arguments", with_raw_arguments(lambda given: given), "arguments as an object, not a string"),
        ("null-arguments", with_raw_arguments(lambda _: None), "arguments null"),
        ("null-function", with_field("function", None), "a call whose function is null"),
    ):
        yield Script(name, f"{about}; then a right call", rounds(asks(maker), good))
    yield Script("null-id", "a call whose id is null", rounds(asks(with_field("id", None))))
    cut = asks(WRONG_ARGUMENTS["cut JSON"], finish_reason="length")
    yield Script("length-cut", "finish_reason length, arguments cut; then a right call", rounds(cut, good))
    whole = asks(refund_call, finish_reason="length")
    yield Script(
        "length-whole",
        "finish_reason length, though the arguments look whole; then a right call",
        rounds(whole, good),
    )


def _texts() -> Iterator[Script]:
    yield Script("empty-text", "an empty text", says(""))
    yield Script("null-text", "content null and no call", says(None))
    yield Script("refusal", "a refusal, content null", says(None, refusal="I can't help with that."))
    yield Script("content-filter", "finish_reason content_filter", says("", finish_reason="content_filter"))
    yield Script(
        "length-text", "a text cut at the limit", says("I have looked at your", finish_reason="length")
    )
    yield Script("nul-in-content", "a text with NUL", says("All\x00 is well."))
    yield Script("surrogate-in-content", "a text with a lone surrogate", says("All \ud800 is well."))
    nul, surrogate = (
        asks(refund_call, content="One\x00 moment."),
        asks(refund_call, content="One \ud800 moment."),
    )
    yield Script("nul-with-call", "a call beside a text with NUL", rounds(nul))
    yield Script("surrogate-with-call", "a call beside a lone surrogate", rounds(surrogate))
    yield Script("big-content", "a text of 1 MB", says(BIG_TEXT))
    claim = "I have refunded you in full, the money is on its way."
    yield Script("false-claim", "claims a refund without a call", says(claim))


def _strange_messages() -> Iterator[Script]:
    yield Script("choices-missing", "no choices", choices(...))
    yield Script("choices-null", "choices null", choices(None))
    yield Script("choices-empty", "choices []", choices([]))
    yield Script("message-null", "message null", gives(None))
    yield Script(
        "role-user", "the answer has role user", message({"role": "user", "content": "All is well."})
    )
    yield Script(
        "finish-tool-calls-empty", "finish_reason tool_calls, no calls", calls(content="All is well.")
    )
    yield Script("legacy-function-call", "function_call instead of tool_calls", legacy_call)
    yield Script("two-choices", "a second choice holds a refund call", two_choices)
    yield Script(
        "error-object-200", "an error object with 200", raw(200, '{"error": {"message": "overloaded"}}')
    )
    yield Script("html-200", "200 and HTML", lambda _: broken.html(200))
    yield Script("html-200-as-json", "200 and HTML, said to be JSON", raw(200, broken.HTML))
    yield Script("empty-200", "200 and an empty body", raw(200, ""))
    yield Script("cut-json", "200 and half of a completion", badly(cut_json))
    for name, text in (("list", "[1]"), ("string", '"hi"'), ("null", "null")):
        yield Script(f"not-an-object-{name}", f"200 and {text}", raw(200, text))


def _failures() -> Iterator[Script]:
    for status in (400, 401, 403, 404, 500, 502, 503, 529):
        yield Script(f"http-{status}", f"{status} and an error object", fails(status))
    late = {"Retry-After": "3600"}
    yield Script("http-429", "429, Retry-After an hour", fails(429, type="requests", headers=late))
    again = {"x-should-retry": "true"}
    yield Script("http-400-should-retry", "400, x-should-retry: true", fails(400, headers=again))
    yield Script("http-500-should-retry", "500, x-should-retry: true", fails(500, headers=again))
    yield Script(
        "redirect-307",
        "307 to the same address",
        lambda _: Reply(307, headers=(("Location", "completions"),)),
    )
    yield Script("timeout", "never answers", hangs())
    yield Script("timeout-twice-after-refund", "a call, then no answer twice", _on(hangs(), {2, 3}))
    yield Script("reset", "TCP reset after the request was read", resets())
    yield Script("drop", "closes without an answer", lambda _: broken.drop)
    drip_headers = partial(broken.dripped_headers, interval_seconds=DRIP_SECONDS)
    drip_body = partial(broken.dripped_body, interval_seconds=DRIP_SECONDS)
    yield Script("drip-headers", "a byte every 50 ms, status line and all", badly(drip_headers))
    yield Script("drip-body", "headers, then a byte every 50 ms", badly(drip_body))
    yield Script("cut-content-length", "Content-Length above the body", badly(broken.cut_content_length))
    yield Script("huge", "a completion and 100 MB of blanks", badly(broken.huge))
    yield Script("gzip-bomb", "the same, as 140 kB of gzip", badly(broken.gzip_bomb))
    yield Script("plain", "plain English, as without a script", plain)


SCRIPTS = {script.name: script for script in _rows()}
