"""A running service with both stand-ins, as a test sees it: ask over HTTP, then look at every side."""

import json
import signal
import time
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import redis
import requests
from sqlalchemy import Connection, Table, select, text

from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_support_tables import metadata
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.ports import StoreUnavailable
from sandbox.embedded_redis import free_port
from sandbox.model import Model
from sandbox.payment_parts import Pace
from sandbox.payments import Payments
from sandbox.processes import Process, web_answers

TOKEN = "portal-token-of-the-tests"
PATH = "/support/refund-chat"
TASK = "turns.run"
TRIES = 5
PATIENCE_SECONDS = 40.0
MAX_ASKERS = 220

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Stand:
    """One web, one worker, and what they stand on; `url` is the web's."""

    url: str
    web: Process
    worker: Process
    database: Database
    redis_url: str
    model: Model
    payments: Payments
    env: Mapping[str, str]
    pool: ThreadPoolExecutor = field(repr=False)

    def chat(
        self, message: str, user_id: str = "customer-17", *, headers: Mapping[str, str] | None = None
    ) -> requests.Response:
        """Ask as the portal does, and wait."""
        body = json.dumps({"user_id": user_id, "message": message}).encode()
        return self.send(body, headers=headers)

    def send(
        self,
        body: bytes,
        content_type: str = "application/json",
        *,
        headers: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Send these bytes as they are, with the portal's token."""
        usual = {"Authorization": f"Bearer {TOKEN}", "Content-Type": content_type}
        with requests.Session() as session:
            session.trust_env = False
            return session.post(
                self.url + PATH, data=body, headers={**usual, **(headers or {})}, timeout=PATIENCE_SECONDS
            )

    def chat_soon(self, message: str, **more: Any) -> "Future[requests.Response]":
        """Ask from another thread."""
        return self.pool.submit(self.chat, message, **more)

    def get(self, path: str) -> requests.Response:
        with requests.Session() as session:
            session.trust_env = False
            return session.get(self.url + path, timeout=PATIENCE_SECONDS)

    def gate(self, turn_id: str) -> Row | None:
        """Return the turn's ledger row, every column, as it is committed."""
        return self._row(refunds, refunds.c.turn_id == turn_id)

    def turn(self, turn_id: str) -> Row | None:
        """Return the turn's row."""
        return self._row(turns, turns.c.id == turn_id)

    def turns(self) -> list[Row]:
        """Return all turns, oldest first."""
        with self.database.transaction(read_only=True) as tx:
            found = tx.execute(select(turns).order_by(turns.c.created_at_ms, turns.c.id)).mappings()
            return [dict(row) for row in found]

    def _row(self, table: Table, condition: Any) -> Row | None:
        with self.database.transaction(read_only=True) as tx:
            found = tx.execute(select(table).where(condition)).mappings().one_or_none()
            return None if found is None else dict(found)

    def mirror(self, turn_id: str) -> dict[str, str]:
        """Return the turn's hash in the audit mirror."""
        with redis.Redis.from_url(self.redis_url, decode_responses=True) as client:
            return dict(client.hgetall(f"refunds:{turn_id}"))

    def mirrored_events(self, turn_id: str) -> list[dict[str, str]]:
        """Return the turn's entries in the audit mirror's stream, in order."""
        with redis.Redis.from_url(self.redis_url, decode_responses=True) as client:
            entries = client.xrange("refunds:events")
        return [fields for _, fields in entries if fields["turn_id"] == turn_id]

    def wait_for_task(self, turn_id: str, ending: str = "") -> None:
        """Wait until the worker's log says that a delivery of this turn has ended (as `ending`)."""
        wait_until(
            lambda: self.has_ended(turn_id, ending),
            instead=lambda: self.worker_said(turn_id),
        )

    def has_ended(self, turn_id: str, ending: str = "") -> bool:
        """Whether the worker's log says that a delivery of this turn has ended (as `ending`)."""
        found = self.endings(turn_id)
        return ending in found if ending else bool(found)

    def endings(self, turn_id: str) -> list[str]:
        """Return how each delivery of a turn has ended, by the worker's log."""
        said = f"{TASK}[{turn_id}] succeeded"
        events: list[str] = [json.loads(line)["event"] for line in self.worker_said(turn_id) if said in line]
        return [event.rpartition(" ")[2].strip("'") for event in events]

    def worker_said(self, turn_id: str) -> list[str]:
        """Return the whole lines of the worker's log that name this turn; one may be half written."""
        whole, _, _ = self.worker.log.read_text("utf-8").rpartition("\n")
        return [line for line in whole.splitlines() if turn_id in line]

    def stop_worker(self) -> None:
        """Stop the worker between two of its own transactions, so that it keeps no lock meanwhile."""
        for _ in range(20):
            self.worker.send(signal.SIGSTOP)
            try:
                with self.database.transaction() as tx:
                    tx.execute(turns.delete().where(turns.c.id == "nobody"))
            except StoreUnavailable:
                self.worker.send(signal.SIGCONT)
            else:
                return
        raise AssertionError("the worker holds a lock whenever one looks")

    def let_worker_go_on(self) -> None:
        self.worker.send(signal.SIGCONT)

    def with_web(self, url: str, web: Process) -> "Stand":
        """The same stand, asked through another web process."""
        return replace(self, url=url, web=web)

    def forget(self) -> None:
        """Empty the tables, and make both stand-ins as good as new."""
        with self.database.transaction() as tx, unkept(tx):
            for table in metadata.sorted_tables:
                tx.execute(table.delete())
        self.model.delay_seconds = 0.0
        self.payments.mode, self.payments.pace = "ok", Pace()
        self.model.reset()
        self.payments.reset()


@contextmanager
def unkept(tx: Connection) -> Generator[None]:
    """Let rows be deleted that the database keeps; only a test may."""
    if tx.dialect.name == "postgresql":
        tx.execute(text("SET LOCAL session_replication_role = replica"))
    on_sqlite = "SELECT name, sql FROM sqlite_master WHERE name = 'refunds_never_deleted'"
    found = [] if tx.dialect.name == "postgresql" else tx.execute(text(on_sqlite)).all()
    for name, _ in found:
        tx.execute(text(f"DROP TRIGGER {name}"))
    yield
    for _, created in found:
        tx.execute(text(created))


@contextmanager
def run_stand(
    env: Mapping[str, str],
    *,
    database_url: str,
    redis_url: str,
    model: Model,
    payments: Payments,
    logs: Path,
    web_env: Mapping[str, str] | None = None,
) -> Generator[Stand]:
    """Start web and worker over a database whose tables exist.

    The two URLs are the test's own way in, and the service's unless `env`, or `web_env` for the web alone,
    says otherwise.
    """
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    whole = {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "PORTAL_TOKENS": TOKEN, **env}
    with ExitStack() as stack:
        worker = Process("worker", env=whole, log=logs / "worker.log")
        stack.callback(worker.kill)  # it has nothing to hand over, and a graceful end takes seconds
        web = Process("web", env={**whole, **(web_env or {}), "PORT": str(port)}, log=logs / "web.log")
        stack.callback(web.kill)
        database = Database(database_url)
        stack.callback(database.close)
        pool = stack.enter_context(ThreadPoolExecutor(MAX_ASKERS))
        web.wait_until(lambda: web_answers(url))
        yield Stand(url, web, worker, database, redis_url, model, payments, whole, pool)


@contextmanager
def another_web(
    stand: Stand, log: Path, *, ready: Callable[[str], bool] = web_answers, **changes: str
) -> Generator[Stand]:
    """Run one more web process on the same database, Redis and worker."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    web = Process("web", env={**stand.env, **changes, "PORT": str(port)}, log=log)
    try:
        web.wait_until(lambda: ready(url))
        yield stand.with_web(url, web)
    finally:
        web.kill()


def web_lives(url: str) -> bool:
    """Whether the web answers, whatever else is there."""
    with requests.Session() as session:
        session.trust_env = False
        try:
            return session.get(f"{url}/healthz", timeout=3.0).ok
        except requests.RequestException:
            return False


def wait_until(
    holds: Callable[[], bool],
    *,
    seconds: float = PATIENCE_SECONDS,
    instead: Callable[[], object] = lambda: "",
) -> None:
    """Wait for something that nobody announces, such as a line in a log; fail when time is over.

    `instead` says, for whoever reads the failure, what there is in its place.
    """
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"it did not come true in time {instead()}"
        time.sleep(0.02)  # noqa: TID251 - other processes keep no clock of ours


def problem(answer: requests.Response, status: int) -> dict[str, Any]:
    """Check that the answer is an RFC 9457 problem of this status and names its turn; return it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert document["status"] == status
    assert document["turn_id"] == turn_id(answer)
    return document


def ask_until_taken(stand: Stand, message: str) -> requests.Response:
    """Ask as a portal does: again, when a 503 says that nothing was done and when to come back."""
    answer = stand.chat(message)
    for _ in range(TRIES):
        if answer.status_code != requests.codes.unavailable:
            break
        answer = stand.chat(message)
    return answer


def turn_id(answer: requests.Response) -> str:
    """Return the turn's id that the answer carries."""
    return answer.headers["X-Turn-Id"]
