"""What a form of the console has to say, field by field."""

from typing import Final

from web.console.door import form
from web.kinds import Kind
from web.problems import Problem, Refused

MAX_TEXT_LENGTH: Final = 4000
MAX_NAME_LENGTH: Final = 200


def text(name: str, *, required: bool = True, most: int = MAX_TEXT_LENGTH) -> str:
    """Return a field's text without blanks around it; raise `Refused` when it is missing or too long."""
    given = form().get(name, "").strip()
    if required and not given:
        raise _refused(f"`{name}` must not be empty.")
    if len(given) > most:
        raise _refused(f"`{name}` may have {most} characters at most.")
    return given


def line(name: str, *, required: bool = True) -> str:
    """Return a short field of one printable line."""
    given = text(name, required=required, most=MAX_NAME_LENGTH)
    if not given.isprintable():
        raise _refused(f"`{name}` must be one line.")
    return given


def choice(name: str, *allowed: str) -> str:
    """Return a field that is one of these."""
    given = form().get(name, "")
    if given not in allowed:
        raise _refused(f"`{name}` must be {' or '.join(allowed)}.")
    return given


def _refused(what_is_wrong: str) -> Refused:
    return Refused(Problem(Kind.INVALID_BODY, f"{what_is_wrong} Nothing was changed; go back and fix it."))
