"""A whole running service whose customers and orders are the seeded ones, and a look at where money went."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests
from sqlalchemy import update

from refund_agent.adapters.sql_tables import refunds
from refund_agent.adapters.sql_turns import SqlTurns
from refund_agent.adapters.system_clock import SystemClock
from refund_agent.wiring_orders import plant_seeds
from sandbox.http import serve
from sandbox.model import Model
from sandbox.payments import Payments
from tests.functional.stand import Row, Stand, run_stand

PATIENCE_SECONDS = 120.0
ADA, BEN, CHEN, STAFF = "cust-ada", "cust-ben", "cust-chen", "dev-staff"
KETTLE = "The kettle leaks. Please refund 49.99 for ORD-1001."
"""What Ada says for a plain refund."""
USUAL = {
    "LLM_PROVIDER": "scripted",
    "AUTH_MODE": "dev",
    "CUSTOMER_RATE": "10000/minute",
    "CUSTOMER_DAILY_TOKENS": "10000000",
    "COMPLETION_TIMEOUT_SECONDS": "20",
    "BACKOFF_SECONDS": "0.1",
    "PAYMENTS_TIMEOUT_SECONDS": "1.5",
    "TURN_DEADLINE_SECONDS": "30",
}
"""Room for a busy machine; only payments that never answers is given up soon."""


@dataclass(frozen=True)
class Shop:
    """A running service with its stand-ins. `url` is the web's; what moved is asked of payments itself."""

    stand: Stand
    _planted: set[str] = field(default_factory=set, repr=False)

    @property
    def url(self) -> str:
        return self.stand.url

    @property
    def model(self) -> Model:
        return self.stand.model

    @property
    def payments(self) -> Payments:
        return self.stand.payments

    @property
    def moved(self) -> list[tuple[str, int]]:
        """Every refund that moved money, as payments has it: order id and cents, in order."""
        return self.payments.moved

    def turns(self) -> list[Row]:
        """Return the rows of this test's turns, oldest first."""
        return [turn for turn in self.stand.turns() if turn["id"] not in self._planted]

    def refunds(self) -> dict[str, str]:
        """Return what the ledger says of this test's refunds: the state of each, by its order."""
        rows = [self.stand.gate(turn["id"]) for turn in self.turns()]
        return {row["order_id"]: row["state"] for row in rows if row is not None and row["order_id"]}

    def let_a_minute_pass(self) -> None:
        """Make every claim a minute older, so that no request of it can still be on its way."""
        with self.stand.database.transaction() as tx:
            tx.execute(update(refunds).values(decided_at_ms=refunds.c.decided_at_ms - 60_000))

    def begin_anew(self) -> None:
        """Forget everything and plant the seeds, lost refund included."""
        self.stand.forget()
        turns = SqlTurns(self.stand.database, clock=SystemClock(), deadline_seconds=30, lease_seconds=15)
        plant_seeds(self.stand.database, turns)
        self._planted.clear()
        self._planted.update(turn["id"] for turn in self.stand.turns())

    def token(self, person_id: str) -> str:
        """Return a token of a seeded customer, or of the member of staff."""
        token: str = self._document("POST", "/dev/token", {"id": person_id})["token"]
        return token

    def say(self, message: str, *, by: str = ADA, conversation_id: str = "") -> dict[str, Any]:
        """Chat without a browser, and return the reply's document."""
        answer = self.ask(message, token=self.token(by), conversation_id=conversation_id)
        assert answer.ok, answer.text
        document: dict[str, Any] = answer.json()
        return document

    def ask(self, message: str, *, token: str, conversation_id: str = "") -> requests.Response:
        """Chat without a browser, and return what comes."""
        body = {"message": message, **({"conversation_id": conversation_id} if conversation_id else {})}
        return self._send("POST", "/support/chat", body, token=token)

    def get(self, path: str, *, by: str) -> Any:
        """Return what the API answers this person."""
        return self._document("GET", path, by=by)

    def lines(self, *, by: str) -> list[dict[str, Any]]:
        """Return the lines of this customer's newest conversation."""
        newest = self.get("/support/conversations", by=by)["conversations"][0]["conversation_id"]
        lines: list[dict[str, Any]] = self.get(f"/support/conversations/{newest}", by=by)["messages"]
        return lines

    def post(self, path: str, body: Any = None, *, by: str) -> Any:
        """Return what the API answers this person's write."""
        return self._document("POST", path, body, by=by)

    def _document(self, method: str, path: str, body: Any = None, *, by: str = "") -> Any:
        answer = self._send(method, path, body, token=self.token(by) if by else "")
        assert answer.ok, answer.text
        return answer.json()

    def _send(self, method: str, path: str, body: Any, *, token: str) -> requests.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        with requests.Session() as session:
            session.trust_env = False
            return session.request(
                method, self.url + path, json=body, headers=headers, timeout=PATIENCE_SECONDS
            )


@contextmanager
def open_shop(
    make_database: Callable[[], str],
    redis_url: str,
    folder: Path,
    *,
    model: Model | None = None,
    **changes: str,
) -> Generator[Shop]:
    """Run web, worker and both stand-ins until the context closes; `changes` are settings."""
    model, payments = model or Model(), Payments()
    with serve(model) as model_server, serve(payments) as payments_server:
        outside = {"OPENAI_BASE_URL": f"{model_server.url}/v1", "PAYMENTS_URL": payments_server.url}
        secret = {"AUTH_DEV_SECRET_FILE": str(folder / "dev.key")}
        with run_stand(
            {**USUAL, **outside, **secret, **changes},
            database_url=make_database(),
            redis_url=redis_url,
            model=model,
            payments=payments,
            logs=folder,
        ) as stand:
            yield Shop(stand)
