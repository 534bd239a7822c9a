"""What completions cost. A model without a known price has an unknown cost, which is not nothing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MICRODOLLARS_A_CENT: Final = 10_000
TOKENS_OF_A_PRICE: Final = 1_000_000

_LISTED: Final = re.compile(r"([^\s,=]{1,100})=([0-9]{1,7})/([0-9]{1,7})")


@dataclass(frozen=True, slots=True)
class Price:
    """What a model's provider takes for a million tokens, in US cents: for those read, for those written."""

    read_cents: int
    written_cents: int

    def of(self, *, tokens: int, read_tokens: int) -> int | None:
        """Return a completion's cost in millionths of a dollar, rounded up.

        None where the provider did not say how many tokens it counted, or how many of them it read.
        """
        if not 0 < read_tokens <= tokens:
            return None
        cents = read_tokens * self.read_cents + (tokens - read_tokens) * self.written_cents
        return -(-cents * MICRODOLLARS_A_CENT // TOKENS_OF_A_PRICE)


class NotPrices(ValueError):
    """The text is not a list like `gpt-4o-mini-2024-07-18=15/60,other=100/500`."""


def read_prices(listed: str) -> Mapping[str, Price]:
    """Read `model=read/written` entries, parted by commas; raise `NotPrices`."""
    prices: dict[str, Price] = {}
    for entry in filter(None, (part.strip() for part in listed.split(","))):
        found = _LISTED.fullmatch(entry)
        if found is None or found[1] in prices:
            raise NotPrices("write model=read/written in US cents for a million tokens, each model once")
        prices[found[1]] = Price(int(found[2]), int(found[3]))
    return prices


def add_cost(before: int | None, more: int | None) -> int | None:
    """Add costs; what is partly unknown is unknown."""
    return None if before is None or more is None else before + more
