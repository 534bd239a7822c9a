"""Text that shows all it holds: what an id from outside must be."""

import unicodedata
from typing import Final

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's categories of controls, formatting, lone surrogates, and line and paragraph separators."""


def has_unseen_characters(text: str) -> bool:
    """Whether the text has a character that a reader does not see, such as a control or a zero-width one."""
    return any(unicodedata.category(character) in _UNSEEN for character in text)
