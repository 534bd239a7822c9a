"""Amounts of money as people read and write them. Everywhere else they are whole cents; never a float."""

import re

MAX_CENTS = 2**53 - 1
"""Above this not every JSON peer reads an integer exactly."""

_WRITTEN = re.compile(r"([0-9]{1,13})(?:\.([0-9]{2}))?")


class NotAnAmount(ValueError):
    """The text is not an amount such as `12`, `12.34` or `0.05`."""


def read_cents(text: str) -> int:
    """Return the cents of `12.34`, exactly; raise `NotAnAmount` for any other form."""
    written = _WRITTEN.fullmatch(text)
    if written is None:
        raise NotAnAmount("an amount is written like 12 or 12.34: no sign, no thousands, two decimals")
    whole, cents = written.groups()
    return int(whole) * 100 + int(cents or 0)


def write_cents(cents: int, currency: str = "") -> str:
    """Return `500.00 EUR`; without a currency `500.00`."""
    sign, size = "-" if cents < 0 else "", abs(cents)
    return f"{sign}{size // 100}.{size % 100:02} {currency}".rstrip()
