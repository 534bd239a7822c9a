"""Flags a customer's message that looks like an attempt to steer the model.

A flag is an event for people to look at, and nothing else: no refund depends on one, whoever words an
attack differently is not flagged, and the policy holds all the same. Pure, deterministic and bounded: the
text is cut at its limit, every pattern's gaps are, and so is the number of decoded pieces.
"""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, TypeAlias
from urllib.parse import unquote

from rapidfuzz.distance import OSA
from rapidfuzz.process import extractOne

from refund_agent.injection_phrases import (
    AUTHORITY,
    HINTS,
    MARKUP,
    NOT_MISSPELT,
    OVERRIDE,
    PROMPT_LEAK,
    ROLE,
    SQUEEZED,
    VOCABULARY,
)

Kind: TypeAlias = Literal[
    "override", "role", "prompt_leak", "authority", "markup", "invisible", "disguised", "spaced", "encoded"
]

MAX_LENGTH: Final = 4000
MAX_EXCERPT: Final = 120
MAX_PIECES: Final = 6
"""How many encoded pieces of one message are decoded."""
MAX_CORRECTIONS: Final = 400
"""How many different words of one message are compared with the vocabulary."""


@dataclass(frozen=True, slots=True)
class Flag:
    """One suspicion. `excerpt` is what was read, decoded where need be, and at most 120 characters."""

    kind: Kind
    excerpt: str


def flags(text: str) -> tuple[Flag, ...]:
    """Return what looks suspicious in a message, each kind once."""
    text = text[:MAX_LENGTH]
    found: dict[Kind, str] = {}
    for kind, excerpt in _suspicions(text):
        found.setdefault(kind, excerpt)
    return tuple(Flag(kind, excerpt[:MAX_EXCERPT]) for kind, excerpt in found.items())


def _suspicions(text: str) -> Iterator[tuple[Kind, str]]:
    if markup := MARKUP.search(text.lower()):
        yield "markup", markup[0].strip()
    visible, hidden = _without_invisible(text)
    if hidden:
        yield "invisible", hidden
    yield from _plain_or_disguised(visible)
    for run in _spaced_out(visible):
        if SQUEEZED.search(_unleet(run)):
            yield "spaced", run
    for decoded in _decoded(text):
        words = _words(decoded)
        if not any(hint in words for hint in HINTS):
            continue
        if (match := next(_read(words), None)) or SQUEEZED.search(words.replace(" ", "")):
            yield "encoded", match[1] if match else words


def _plain_or_disguised(visible: str) -> Iterator[tuple[Kind, str]]:
    plain = _words(visible)
    seen = set[str]()
    for kind, excerpt in _read(_corrected(plain)):
        seen.add(excerpt)
        yield kind, excerpt
    for disguised in (_words(_unleet(_latinised(visible))), _words(visible[::-1])):
        words = "" if disguised == plain else _corrected(disguised)
        for _, excerpt in _read(words) if any(hint in words for hint in HINTS) else ():
            if excerpt not in seen:
                yield "disguised", excerpt


_PATTERNS: Final[dict[Kind, re.Pattern[str]]] = {
    "override": OVERRIDE,
    "role": ROLE,
    "prompt_leak": PROMPT_LEAK,
    "authority": AUTHORITY,
}


def _read(words: str) -> Iterator[tuple[Kind, str]]:
    for kind, pattern in _PATTERNS.items():
        if match := pattern.search(words):
            yield kind, match[0]


# --- Reading the text in other ways ---------------------------------------------------------------


_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_NOT_A_WORD: Final = re.compile(r"[^a-z0-9]+")


def _words(text: str) -> str:
    """Lower to words of a-z and 0-9, without accents."""
    # Cut anew: one character can stand for eighteen.
    folded = _ACCENTS.sub("", unicodedata.normalize("NFKD", text).casefold()[:MAX_LENGTH])
    return _NOT_A_WORD.sub(" ", folded).strip()


def _corrected(words: str) -> str:
    """Read misspelt words as those they resemble."""
    different = dict.fromkeys(words.split())
    unknown = [word for word in different if len(word) > 4 and word not in NOT_MISSPELT]  # noqa: PLR2004 - short words resemble everything
    meant = {word: near for word in unknown[:MAX_CORRECTIONS] if (near := _nearest(word)) != word}
    return " ".join(meant.get(word, word) for word in words.split()) if meant else words


@cache
def _neighbours(length: int) -> tuple[str, ...]:
    return tuple(word for word in VOCABULARY if len(word) > 4 and abs(len(word) - length) <= 1)  # noqa: PLR2004 - same


def _nearest(word: str) -> str:
    candidates = _neighbours(len(word)) if len(word) <= 20 else ()  # noqa: PLR2004 - longer than any of ours
    if not candidates or word in candidates:
        return word
    most = 1 if len(word) < 8 else 2  # noqa: PLR2004 - two slips only in a long word
    found = extractOne(word, candidates, scorer=OSA.distance, score_cutoff=most)
    return found[0] if found else word


_LEET: Final = str.maketrans("013457@$!|€", "oieastasiie")
_TOKEN: Final = re.compile(r"\S+")
_HAS_LETTER: Final = re.compile("[a-zA-Z]")


def _unleet(text: str) -> str:
    """Read digits and signs as letters, in words that have letters as well."""
    return _TOKEN.sub(lambda t: t[0].translate(_LEET) if _HAS_LETTER.search(t[0]) else t[0], text)


_LOOKALIKES: Final = str.maketrans(
    "аеорсухіјѕԁһӏвкмнтгпзАВЕКМНОРСТУХІЈЅοανερτυικηωχβγσΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɑɡⅼꞮ",
    "aeopcyxijsdhlbkmhtrn3ABEKMHOPCTYXIJSoaveptuiknwxbysABEZHIKMNOPTYXiagli",
)


def _latinised(text: str) -> str:
    """Read Cyrillic and Greek letters as the Latin ones they look like."""
    return text.translate(_LOOKALIKES)


_APART: Final = re.compile(r"(?<![^\W_])[^\W_](?:[\s._*|/~,+-]{1,3}[^\W_]){5,}(?![^\W_])")


def _spaced_out(text: str) -> Iterator[str]:
    """Yield letters that stand apart, put together: `i g n o r e` is `ignore`."""
    for run in _APART.finditer(text):
        yield _words(_latinised(run[0])).replace(" ", "")


# --- What cannot be seen --------------------------------------------------------------------------

_ZERO_WIDTH: Final = "\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff\u180e\u00ad"
_INSIDE_A_WORD: Final = re.compile("(?<=[A-Za-z])[\u200b\u200c\u200d\u2060-\u2064\ufeff\u180e]+(?=[A-Za-z])")
_TURNED_ROUND: Final = re.compile("[\u202b\u202d\u202e\u2066-\u2069]")
_TAGS: Final = re.compile("(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0020-\U000e007f]{2,}")
_VARIANTS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")
_INVISIBLE: Final = re.compile(
    f"[{_ZERO_WIDTH}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufe00-\ufe0f\U000e0000-\U000e01ef]"
)


def _without_invisible(text: str) -> tuple[str, str]:
    """Return the text as a reader sees it, and what was hidden where no honest keyboard puts it."""
    if text.isascii():
        return text, ""
    hidden = ""
    for pattern in (_INSIDE_A_WORD, _TURNED_ROUND, _TAGS, _VARIANTS):
        if match := pattern.search(text):
            count = sum(len(m[0]) for m in pattern.finditer(text))
            hidden = f"U+{ord(match[0][0]):04X} and the like, {count} in all"
            break
    return _INVISIBLE.sub("", text), hidden


# --- What is written in a code --------------------------------------------------------------------

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX: Final = re.compile(r"(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[\s:,]?){12,}")
_HEX_NOISE: Final = re.compile(r"0x|\\x|[\s:,]")
_BITS: Final = re.compile(r"(?:[01]{8}\s?){6,}")
_MORSE: Final = re.compile(r"(?:[.\-\u00b7\u2013]{1,5}(?:\s*/\s*|\s{1,3})){10,}[.\-\u00b7\u2013]{1,5}")
_MORSE_SIGNS: Final = """
.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..-
-.-- --.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----.
"""
_MORSE_LETTERS: Final[dict[str, str]] = dict(
    zip(_MORSE_SIGNS.split(), "abcdefghijklmnopqrstuvwxyz0123456789", strict=True)
)


def _decoded(text: str) -> Iterator[str]:
    """Yield what the text says when read as one of the usual codes."""
    yield codecs.decode(text, "rot13")
    if "%" in text or "&" in text:
        yield html.unescape(unquote(text, errors="replace"))
    yield from _tags_as_text(text)
    for match in list(_BASE64.finditer(text))[:MAX_PIECES]:
        yield from _as_base64(match[0])
    for match in list(_HEX.finditer(text))[:MAX_PIECES]:
        yield from _as_hex(_HEX_NOISE.sub("", match[0]))
    for match in list(_BITS.finditer(text))[:MAX_PIECES]:
        bits = "".join(match[0].split())
        yield from _as_text(int(bits, 2).to_bytes(len(bits) // 8, "big"))
    for match in list(_MORSE.finditer(text))[:MAX_PIECES]:
        signs = match[0].replace("\u00b7", ".").replace("\u2013", "-").replace("/", " / ").split()
        yield "".join(" " if sign == "/" else _MORSE_LETTERS.get(sign, "") for sign in signs)


def _tags_as_text(text: str) -> Iterator[str]:
    tags = [chr(ord(c) - 0xE0000) for c in text if "\U000e0020" <= c <= "\U000e007e"]
    if tags:
        yield "".join(tags)


def _as_base64(piece: str) -> Iterator[str]:
    body = piece.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        yield from _as_text(
            base64.b64decode(body[: len(body) - (len(body) % 4 == 1)] + "=" * (-len(body) % 4))
        )
    except (binascii.Error, ValueError):
        return


def _as_hex(digits: str) -> Iterator[str]:
    yield from _as_text(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _as_text(decoded: bytes) -> Iterator[str]:
    """Yield bytes that are text; chance gives hardly ever valid UTF-8 without control characters."""
    try:
        said = decoded.decode()
    except UnicodeDecodeError:
        return
    if all(character.isprintable() or character.isspace() for character in said):
        yield said
