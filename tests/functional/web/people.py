"""Customers and staff who are known by a word instead of a signed token, and their tickets."""

import itertools

from refund_agent.identity import Customer, Identity, Person, Proof, SignIn, Staff, TicketsUnavailable

ALICE, BOB = Customer("alice"), Customer("bob")
DANA = Staff("dana", "Dana", may_write=True)
ROBIN = Staff("robin", "Robin", may_write=True)
SAM = Staff("sam", "Sam", may_write=False)
KNOWN: dict[str, Identity] = {
    "is-alice": ALICE,
    "is-bob": BOB,
    "is-dana": DANA,
    "is-robin": ROBIN,
    "is-sam": SAM,
}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


class FakeIdentities:
    def __init__(self) -> None:
        self.asked: list[str] = []
        self.left_seconds = 3600

    def verify(self, token: str) -> Identity | None:
        self.asked.append(token)
        return KNOWN.get(token)

    def prove(self, token: str) -> Proof | None:
        identity = self.verify(token)
        return None if identity is None else Proof(identity, self.left_seconds)


class FakeTickets:
    """Gives `ticket-1`, `ticket-2`, …; each works once."""

    def __init__(self) -> None:
        self.open: dict[str, tuple[Identity, str]] = {}
        self.is_away = False
        self._numbers = itertools.count(1)

    def issue(self, identity: Identity, *, path: str) -> str:
        if self.is_away:
            raise TicketsUnavailable("away")
        ticket = f"ticket-{next(self._numbers)}"
        self.open[ticket] = (identity, path)
        return ticket

    def redeem(self, ticket: str, *, path: str) -> Identity | None:
        if self.is_away:
            raise TicketsUnavailable("away")
        identity, opens = self.open.pop(ticket, (None, ""))
        return identity if opens == path else None


class FakePicker:
    def people(self) -> list[Person]:
        return [Person(ALICE, "Alice"), Person(DANA, "Dana")]

    def mint(self, identity: Identity) -> str:
        return f"is-{identity.id}"


def sign_in(*, dev: bool = False) -> SignIn:
    return SignIn(FakeIdentities(), FakeTickets(), picker=FakePicker() if dev else None)
