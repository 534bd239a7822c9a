"""The languages that a customer is spoken to in, and a sentence of code's in each of them.

A sentence is known again by its fixed words, each where it first comes after the one before. So reading takes
time in proportion to the text, whatever stands in the gaps; a pattern with several gaps would try them all.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from string import Formatter
from typing import Final, Literal, TypeAlias

Language: TypeAlias = Literal["en", "de", "es"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "de", "es")

AMOUNTS: Final = frozenset({"amount", "paid"})
"""The gaps that hold an amount as `write_cents` writes it; in German and Spanish it has a comma."""
_AMOUNT: Final = re.compile(r"(-?[0-9]+)\.([0-9]{2}(?: [A-Z]{3})?)")


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing that code says, with gaps such as `{order}`. What is stored is the English."""

    en: str
    de: str
    es: str

    def say(self, **gaps: str) -> str:
        """Say it in English."""
        return self.en.format_map(gaps)

    def say_in(self, language: Language, gaps: Mapping[str, str]) -> str:
        """Say it in a language, with what was in the gaps of the English."""
        if language == "en":
            return self.en.format_map(gaps)
        words = self.de if language == "de" else self.es
        return words.format_map({name: _with_comma(name, value) for name, value in gaps.items()})

    def read(self, text: str) -> Mapping[str, str] | None:
        """Return what is in the gaps of a text that is this and nothing else; None for any other text."""
        names, words = _parts(self.en)
        if not names:
            return {} if text == self.en else None
        first, *between, last = words
        if not (text.startswith(first) and text.endswith(last)):
            return None
        at, end = len(first), len(text) - len(last)
        gaps: dict[str, str] = {}
        for name, following in zip(names, between, strict=False):
            found = text.find(following, at, end)
            if found < 0:
                return None
            gaps[name] = text[at:found]
            at = found + len(following)
        if at > end:
            return None
        gaps[names[-1]] = text[at:end]
        return gaps if all(_fits(name, value) for name, value in gaps.items()) else None


@cache
def _parts(template: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a template's gaps, and the fixed words before, between and after them."""
    pieces = list(Formatter().parse(template))
    names = tuple(name for _, name, _, _ in pieces if name is not None)
    words = tuple(words for words, _, _, _ in pieces)
    return names, words if len(words) > len(names) else (*words, "")


def _fits(name: str, value: str) -> bool:
    return name not in AMOUNTS or _AMOUNT.fullmatch(value) is not None


def _with_comma(name: str, value: str) -> str:
    found = _AMOUNT.fullmatch(value) if name in AMOUNTS else None
    return value if found is None else f"{found[1]},{found[2]}"
