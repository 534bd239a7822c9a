"""One strict JSON parser for request bodies, tool arguments and payment answers.

`json.loads` accepts NaN, duplicate keys, lone surrogates and bottomless nesting, and raises three
different exceptions for the rest. Here a text is either one JSON value that any peer would read the
same way, or a `NotJson` that says why.
"""

import json
import re
from typing import Any, NoReturn, TypeAlias

MAX_DEPTH = 16
MAX_INTEGER = 2**53 - 1
"""Above this not every JSON peer reads an integer exactly (RFC 8259, section 6)."""

Json: TypeAlias = Any
"""A JSON value: dict, list, str, int, float, bool or None. Callers check the shape."""


# Possessive, with an optional closing quote: linear time whatever the text.
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)


class NotJson(ValueError):
    """The text is not one strict JSON value; the message says what is wrong and never quotes the text."""


def parse(text: str | bytes, *, max_bytes: int) -> Json:
    """Return the one JSON value in `text`, UTF-8 when bytes; raise `NotJson` for anything else."""
    decoded = _decode(text, max_bytes)
    _check_depth(decoded)
    try:
        return json.loads(
            decoded,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_int=_integer,
            parse_float=_number,
        )
    except NotJson:
        raise
    except (ValueError, RecursionError) as error:
        raise NotJson(_short(error)) from None


def unsafe_character(text: str) -> str | None:
    """Name a character that no store or peer could carry (NUL, lone surrogate), or return None."""
    if "\x00" in text:
        return "a NUL character"
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "a lone surrogate"
    return None


def _decode(text: str | bytes, max_bytes: int) -> str:
    if len(text) > max_bytes:
        raise NotJson(f"longer than {max_bytes} bytes")
    if isinstance(text, str):
        decoded = text
    else:
        try:
            decoded = text.decode("utf-8")
        except UnicodeDecodeError:
            raise NotJson("not valid UTF-8") from None
    if decoded.startswith("\ufeff"):
        raise NotJson("starts with a byte order mark")
    return decoded


def _check_depth(text: str) -> None:
    """Bound the nesting before the recursive parser sees it; brackets inside strings do not count."""
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise NotJson(f"nested deeper than {MAX_DEPTH}")
        elif token[0] in "]}":
            depth -= 1


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotJson("a key appears twice in one object")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise NotJson(f"{name} is not JSON")


def _integer(digits: str) -> int:
    # Longer digit strings would raise ValueError inside int(); refuse by length, then by value.
    if len(digits) > len(str(MAX_INTEGER)) + 1 or abs(int(digits)) > MAX_INTEGER:
        raise NotJson("an integer is too large to be exact")
    return int(digits)


def _number(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise NotJson("a number is too large")
    return value


def _short(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    return type(error).__name__
