"""AUTH_MODE=dev: whoever is picked is signed in. For a developer's machine; production refuses it."""

import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import jwt

from refund_agent.adapters.jwt_identity import JwtIdentities, TokenRules
from refund_agent.identity import Customer, Identity, Person, Proof, Staff

NAME: Final = "refund-agent-dev"
"""Issuer, audience and key of these tokens, which no host site uses."""
TOKEN_SECONDS: Final = 3600
STAFF: Final = (
    Staff("dev-staff", "Dana (staff)", may_write=True),
    Staff("dev-staff-2", "Robin (staff)", may_write=True),
    Staff("dev-reader", "Sam (only reads)", may_write=False),
)
"""Two who may write, so that two people can be played, and one who may not."""


class DevIdentities:
    """Implements the ports `Identities` and `DevPicker`; `customers` lists the seeded ones."""

    def __init__(self, *, secret: str, customers: Callable[[], list[Person]]) -> None:
        self._secret = secret
        self._customers = customers
        rules = TokenRules(issuer=NAME, audience=NAME, max_seconds=TOKEN_SECONDS)
        self._tokens = JwtIdentities(rules, secrets=[(NAME, secret)])

    def verify(self, token: str) -> Identity | None:
        """Return whom a token of our own names, or None."""
        return self._tokens.verify(token)

    def prove(self, token: str) -> Proof | None:
        """Return the same with the time that the token has left."""
        return self._tokens.prove(token)

    def people(self) -> list[Person]:
        """Return the seeded customers and the staff; raise `StoreUnavailable`."""
        return [*self._customers(), *(Person(staff, staff.name) for staff in STAFF)]

    def mint(self, identity: Identity) -> str:
        """Return a token of an hour."""
        now = int(time.time())  # noqa: TID251 - a token's times are the wall clock's
        claims = {"iss": NAME, "aud": NAME, "sub": identity.id, "iat": now, "exp": now + TOKEN_SECONDS}
        match identity:
            case Customer():
                claims["role"] = "customer"
            case Staff(_, name, may_write):
                claims |= {"role": "staff" if may_write else "staff:read", "name": name}
        return jwt.encode(claims, self._secret, algorithm="HS256", headers={"kid": NAME})


def kept_secret(file: Path) -> str:
    """Return the secret in `file`, made once: every web process and the next start read the same."""
    with suppress(FileNotFoundError):
        return file.read_text()
    file.parent.mkdir(parents=True, exist_ok=True)
    mine = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(secrets.token_hex(32))
    try:
        # The first process wins, and nobody ever reads a half-written file.
        with suppress(FileExistsError):
            file.hardlink_to(mine)
    finally:
        mine.unlink()
    return file.read_text()
