"""What a page of a queue still shows, and somebody may have decided meanwhile: it asks for that by id."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

MOST: Final = 20


def read_held(given: Mapping[str, str]) -> list[str]:
    """Return the ids in `?held=`, each once, in the order given; whatever is none is left out."""
    found = dict.fromkeys(map(_read_id, given.get("held", "").split(",")[:MOST]))
    return [one for one in found if one]


def _read_id(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        return ""
