"""The texts that commands take: without blanks around them, and such as a store can keep."""

from typing import Final

import click

from refund_agent.strict_json import unsafe_character


class Words(click.ParamType[str]):
    """A text; unless it `may_be_empty`, one that says something."""

    name = "text"

    def __init__(self, *, may_be_empty: bool = False) -> None:
        self._may_be_empty = may_be_empty

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return it without blanks around it."""
        if unsafe := unsafe_character(value):  # a shell hands over bytes that are no UTF-8 as surrogates
            self.fail(f"must not contain {unsafe}", param, ctx)
        return value.strip() or ("" if self._may_be_empty else self.fail("must not be empty", param, ctx))


WORDS: Final = Words()
PERHAPS_WORDS: Final = Words(may_be_empty=True)
