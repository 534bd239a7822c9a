"""Who is asking: a signed-in customer or a member of staff. A token says it, never the chat."""

from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

MAX_ID_LENGTH: Final = 128
MIN_SECRET_BYTES: Final = 32
"""What RFC 7518 (3.2) asks of an HS256 secret; a shorter one verifies nothing here."""


@dataclass(frozen=True, slots=True)
class Customer:
    """A signed-in customer; `id` is the shop's own, printable and at most 128 characters."""

    id: str


@dataclass(frozen=True, slots=True)
class Staff:
    """A member of staff; `name` is what an approval shows. Without `may_write` they only look."""

    id: str
    name: str
    may_write: bool


Identity: TypeAlias = Customer | Staff


def is_sane_id(given: object) -> bool:
    """Whether a claim can be an id or a name: a visible, printable string of at most 128 characters."""
    return (
        isinstance(given, str)
        and 0 < len(given) <= MAX_ID_LENGTH
        and given.isprintable()
        and bool(given.strip())
    )


@dataclass(frozen=True, slots=True)
class Proof:
    """What a valid token proves, and for how long it goes on to do so."""

    identity: Identity
    left_seconds: int


class Identities(Protocol):
    """Reads tokens."""

    def verify(self, token: str) -> Identity | None:
        """Return whom a token names; None for whatever is wrong with it, without saying what."""
        ...

    def prove(self, token: str) -> Proof | None:
        """Return the same with the time that the token has left."""
        ...


# --- Where a header cannot be sent ----------------------------------------------------------------

TICKET_SECONDS: Final = 30


class TicketsUnavailable(Exception):
    """The store of tickets cannot be asked: nothing was issued, and nothing can be redeemed."""


class Tickets(Protocol):
    """Stand-ins for a token in a URL, such as an EventSource's: 30 seconds, one use, one path."""

    def issue(self, identity: Identity, *, path: str) -> str:
        """Return a new ticket for this identity at this path; raise `TicketsUnavailable`."""
        ...

    def redeem(self, ticket: str, *, path: str) -> Identity | None:
        """Use a ticket up and return its identity; None if it is unknown, late, used or another path's.

        Raises `TicketsUnavailable`.
        """
        ...


# --- The picker of AUTH_MODE=dev ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody the picker offers."""

    identity: Identity
    name: str


class DevPicker(Protocol):
    """Offers the seeded customers and some staff, without a password: never in production."""

    def people(self) -> list[Person]:
        """Return everybody who can be picked; raise `StoreUnavailable`."""
        ...

    def mint(self, identity: Identity) -> str:
        """Return a short-lived token that `Identities.verify` of the same process reads."""
        ...


@dataclass(frozen=True, slots=True)
class SignIn:
    """How customers and staff are known. `picker` exists with AUTH_MODE=dev only."""

    identities: Identities
    tickets: Tickets
    picker: DevPicker | None = None
