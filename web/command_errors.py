"""What the operator's commands say while the database is away: a sentence, never a traceback."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import click

from refund_agent.ports import StoreUnavailable

AWAY: Final = "the database cannot be asked now"


@contextmanager
def asking_the_database(consequence: str = "Nothing was changed") -> Generator[None]:
    """End the command with a plain sentence if the database is away.

    `consequence` is what is certain then. A commit whose answer was lost may have been made: a command that
    writes says so, and where to look.
    """
    try:
        yield
    except StoreUnavailable as error:
        raise click.ClickException(f"{AWAY}. {consequence}.") from error
