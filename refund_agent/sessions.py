"""Sessions of the console: a member of staff signs in with the host site's token and gets a cookie for it."""

from dataclasses import dataclass, field
from typing import Final, Protocol

from refund_agent.identity import Staff

MAX_SESSION_SECONDS: Final = 8 * 3600
"""The longest a session lasts, whatever the token says: one day at work."""


class SessionsUnavailable(Exception):
    """The store of sessions cannot be asked: nobody is signed in, and nobody is let in."""


@dataclass(frozen=True, slots=True)
class Session:
    """Who is signed in. `csrf` is repeated by every form of this session and by no other page."""

    staff: Staff
    csrf: str = field(repr=False)


class Sessions(Protocol):
    """The sessions; any call may raise `SessionsUnavailable`."""

    def begin(self, staff: Staff, *, seconds: int) -> str:
        """Begin a session that ends by itself after `seconds`; return its secret id, for the cookie."""
        ...

    def find(self, session_id: str) -> Session | None:
        """Return the session of this id; None if there is none, or it has ended."""
        ...

    def end(self, session_id: str) -> None:
        """End a session, if it is there."""
        ...
