"""Finding sentences that claim that money moved, in several languages. Words only; the ledger decides.

A claim that is missed here misleads nobody: the status line made from the ledger stands in every reply in
which money was discussed. What is found here is checked, and taken out when the ledger does not back it.
"""

import re
from collections.abc import Iterator
from typing import Final

_DONE: Final = re.compile(
    r"\brefunded\b|\bcredited\b|\breimbursed\b|\bpaid (?:you )?back\b"
    r"|\brefund\b.{0,60}\b(?:sent|issued|processed|completed?|made|initiated|approved|done|gone through"
    r"|on its way|successful(?:ly)?)\b"
    r"|\b(?:sent|issued|processed|completed|initiated|made|approved)\b.{0,40}\brefund\b"
    r"|\bmoney(?:'s| is| has)\b.{0,30}\b(?:way|sent|back|returned|moved)\b"
    r"|\b(?:zur[uü]ckerstattet|erstattet|[uü]berwiesen|gutgeschrieben|geld.{0,30}unterwegs)\b"
    r"|\br[uü]ckerstattung.{0,40}\b(?:veranlasst|durchgef[uü]hrt|ausgel[oö]st|erfolgt)\b"
    r"|\b(?:reembolsad[oa]s?|reembols[eé]|devuelto|dinero.{0,30}camino)\b"
    r"|\breembolso.{0,40}\b(?:enviado|emitido|procesado|realizado|hecho|completado)\b"
    r"|\b(?:rembours[eé]e?s?|remboursement.{0,40}(?:effectu[eé]|envoy[eé]|trait[eé]))\b"
    r"|\b(?:rimborsat[oaie]|rimborso.{0,40}(?:effettuato|inviato|elaborato))\b",
    re.IGNORECASE | re.DOTALL,
)
_NEGATED: Final = re.compile(
    r"\b(?:not|no|never|cannot|can't|couldn't|wasn't|hasn't|haven't|isn't|unable|unless|if|whether|would|could|once|when"
    r"|nicht|kein(?:e|en|er)?|nie|wenn|falls|sobald|ob|no se|nunca|si|cuando|pas|jamais|non|mai"
    r"|se(?!\s+(?:han?|l[eo]s?|te|nos)\b))\b|n't\b",  # Italian "if", and not Spanish "se ha reembolsado"
    re.IGNORECASE,
)
_MONEY: Final = re.compile(
    r"[0-9]|[€$£¥]|\b(?:refund|money|amount|paid|pay|credit|reimburs|geld|erstatt|betrag|r[uü]ckzahl|gutschrift|reembols"
    r"|dinero|importe|devol|rembours|argent|rimbors|soldi|denaro|zwrot|terugbet)\w*",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[^.!?\n]*(?:[.!?](?=\d)[^.!?\n]*)*(?:[.!?]+|\n+|$)\s*")

_SPACE: Final = " \u00a0\u2009\u202f"
_CODE: Final = (
    "(?:AED|ARS|AUD|BGN|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|ISK|JPY|KRW|MXN|MYR|NOK"
    "|NZD|PEN|PHP|PLN|RON|RSD|SAR|SEK|SGD|THB|TRY|TWD|UAH|USD|VND|ZAR|(?i:eur|usd|gbp|chf))"
)
_SIGN: Final = "[$£-¥฿₠-⃀]"
_WORD: Final = r"(?i:euros?|dollars?|d[oó]lar(?:es)?|pounds?|francs?|franken|pesos?|kr|zł|kč)"
_AMOUNT: Final = re.compile(
    rf"""
    (?: (?P<before> (?: {_SIGN} | (?<![^\W\d_]){_CODE} ) [{_SPACE}]? )
      | (?<! [\w\-\#] ) (?<! \d[.,'’] ) )               # not within an id, a date or another figure
    (?: (?P<grouped> [1-9]\d{{0,2}} (?P<mark> [.,'’{_SPACE}] ) \d{{3}} (?: (?P=mark) \d{{3}} ){{0,5}} )
        (?: (?!(?P=mark)) [.,] (?: (?P<grouped_cents> \d{{1,2}} ) | (?P<grouped_dash> [-–—] ) ) )?
      | (?P<lakhs> [1-9]\d? (?: ,\d\d ){{1,5}} ,\d{{3}} ) (?: \. (?P<lakhs_cents> \d{{1,2}} ) )?
      | (?P<plain> \d{{1,16}} ) (?: [.,] (?: (?P<cents> \d{{1,2}} ) | (?P<dash> [-–—] ) ) )? )
    (?: (?P<after> [{_SPACE}\-]? (?: {_SIGN}(?!\d) | (?:{_CODE}|{_WORD})(?!\w) ) )
      | (?! \w | [.,'’]\d ) (?(before) | (?! - | [{_SPACE}]?(?: % | (?i:uhr|h)\b ) ) ) )
    """,  # noqa: RUF001 - typographic apostrophes and dashes are what people write
    re.VERBOSE,
)
"""A figure as English, German, Spanish and Swiss texts write it, with the currency that it stands with."""


def sentences(text: str) -> Iterator[str]:
    """Split a text into sentences, so that joined they are the text again."""
    return (found[0] for found in _SENTENCE.finditer(text) if found[0])


LAST_LATIN_LETTER: Final = 0x24F
DECIMALS: Final = 2


def claims_money_moved(sentence: str) -> bool:
    """Whether a sentence says that money was sent, without saying "not" or "if"."""
    return _DONE.search(sentence) is not None and _NEGATED.search(sentence) is None


def speaks_of_money(text: str) -> bool:
    """Whether money is spoken of, or might be: other scripts than the Latin one are not judged."""
    other_script = any(character.isalpha() and ord(character) > LAST_LATIN_LETTER for character in text)
    return other_script or _MONEY.search(text) is not None


def amounts_cents(sentence: str) -> set[int]:
    """Return every figure that is an amount of money, in cents: with a currency, or with two decimals.

    An order's number, a date and a count of days have neither.
    """
    return {cents for found in _AMOUNT.finditer(sentence) if (cents := _cents(found)) is not None}


def _cents(found: re.Match[str]) -> int | None:
    """Return the figure's cents, or None when it is no amount."""
    whole = found["grouped"] or found["lakhs"] or found["plain"]
    cents = found["grouped_cents"] or found["lakhs_cents"] or found["cents"] or ""
    has_currency = found["before"] or found["after"] or found["grouped_dash"] or found["dash"]
    if not has_currency and len(cents) < DECIMALS:
        return None
    return int(re.sub(r"\D", "", whole)) * 100 + int(cents.ljust(DECIMALS, "0"))
