"""One lane of a chaos run: a whole service as real processes, and every way between them in our hands."""

import itertools
import signal
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis
from sqlalchemy import make_url, select, text

from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.ports import QUEUE, StoreUnavailable
from sandbox.embedded_redis import free_port
from sandbox.http import serve
from sandbox.processes import Process, web_answers
from tests.chaos.brokers import Broker, consumers, open_broker
from tests.chaos.outside import ChaosModel, ChaosPayments
from tests.chaos.way import Way
from tests.conftest import fresh_database
from tests.functional.stand import wait_until

DEADLINE_SECONDS = 28
"""As on Heroku, whose router gives a request 30 s. A lease is then 3.5 s."""
LEASE_SECONDS = 3.5
READY_SECONDS = 60.0
MAX_STOPS = 50

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Commands:
    """What runs as web and worker; empty: the Procfile's own lines."""

    web: Sequence[str] = ()
    worker: Sequence[str] = ()


QUICK = Commands(
    web=(
        *(sys.executable, "-m", "gunicorn", "--worker-class", "tests.chaos.quick_web.QuickWorker"),
        "web.wsgi:application()",
    ),
    worker=(
        *(sys.executable, "-m", "celery", "--app", "tests.chaos.quick_worker:app", "--quiet", "worker"),
        *("--without-gossip", "--without-mingle"),
    ),
)
"""The same, with the times of a stop shortened."""


@dataclass
class Lane:
    """A service with two workers; `way_to_database` is None on SQLite, which is a file."""

    env: Mapping[str, str]
    logs: Path
    commands: Commands
    database: Database
    broker: Broker
    model: ChaosModel
    payments: ChaosPayments
    web_to_redis: Way
    worker_to_redis: Way
    way_to_payments: Way
    way_to_provider: Way
    way_to_database: Way | None
    url: str = ""
    webs: list[Process] = field(default_factory=list)
    workers: list[Process] = field(default_factory=list)
    _locked: bool = False
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    # --- processes --------------------------------------------------------------------------------

    @property
    def web(self) -> Process:
        """The web that is asked now."""
        return self.webs[-1]

    def start_web(self) -> None:
        """Start a web on a port of its own, and ask that one from now on."""
        port = free_port()
        env = {
            **self.env,
            "REDIS_URL": f"redis://127.0.0.1:{self.web_to_redis.port}/{self._redis_number}",
            "PORT": str(port),
            "GUNICORN_CMD_ARGS": f"--bind=127.0.0.1:{port}",
        }
        log = self.logs / f"web-{next(self._numbers)}.log"
        self.webs.append(Process("web", env=env, log=log, command=self.commands.web))
        self.url = f"http://127.0.0.1:{port}"

    def start_worker(self) -> None:
        """Start one more worker."""
        env = {
            **self.env,
            "REDIS_URL": f"redis://127.0.0.1:{self.worker_to_redis.port}/{self._redis_number}",
        }
        log = self.logs / f"worker-{next(self._numbers)}.log"
        self.workers.append(Process("worker", env=env, log=log, command=self.commands.worker))

    def make_whole(self) -> None:
        """Replace the processes that have ended, or that were told to, and wait until all are ready."""
        for processes in (self.webs, self.workers):
            for gone in [process for process in processes if not process.is_running()]:
                gone.kill()  # whatever is left of its group
                processes.remove(gone)
        if not self.webs:
            self.start_web()
        while len(self.workers) < 2:
            self.start_worker()
        wait_until(lambda: web_answers(self.url), seconds=READY_SECONDS)
        wait_until(lambda: consumers(self.broker.url) >= 2, seconds=READY_SECONDS)

    def kill_all(self) -> None:
        """End every process at once."""
        for process in [*self.webs, *self.workers]:
            process.kill()
        self.webs.clear()
        self.workers.clear()

    def stop_all(self) -> None:
        """Tell every process to stop, and wait for each."""
        for process in [*self.webs, *self.workers]:
            process.send(signal.SIGTERM)
        for process in [*self.webs, *self.workers]:
            process.stop()
        self.webs.clear()
        self.workers.clear()

    def pause(self, worker: Process) -> None:
        """Stop a worker; on SQLite between two of its own transactions, so that it holds nobody up."""
        for _ in range(MAX_STOPS):
            worker.send(signal.SIGSTOP)
            if self.database.is_postgresql or self._locked or self._writable():
                return
            worker.send(signal.SIGCONT)
        raise AssertionError("the worker holds a lock whenever one looks")

    def _writable(self) -> bool:
        try:
            with self.database.transaction() as tx:
                tx.execute(turns.delete().where(turns.c.id == "nobody"))
        except StoreUnavailable:
            return False
        return True

    # --- what they stand on -----------------------------------------------------------------------

    @property
    def _redis_number(self) -> str:
        return str(make_url(self.broker.url).database or 0)

    @property
    def ways_to_redis(self) -> tuple[Way, Way]:
        return self.web_to_redis, self.worker_to_redis

    def ways(self) -> list[Way]:
        """Return every way there is."""
        found = [*self.ways_to_redis, self.way_to_payments, self.way_to_provider, self.way_to_database]
        return [way for way in found if way is not None]

    def queue_length(self) -> int:
        """How many messages wait for a worker."""
        with redis.Redis.from_url(self.broker.url) as client:
            return int(client.llen(QUEUE))

    def turns_of(self, order_id: str) -> list[Row]:
        """Return the turns that asked for this order's refund, oldest first."""
        found = select(turns).where(turns.c.user_id == order_id).order_by(turns.c.created_at_ms)
        with self.database.transaction(read_only=True) as tx:
            return [dict(row) for row in tx.execute(found).mappings()]

    def gate(self, turn_id: str) -> Row | None:
        """Return the turn's ledger row."""
        with self.database.transaction(read_only=True) as tx:
            row = tx.execute(select(refunds).where(refunds.c.turn_id == turn_id)).mappings().one_or_none()
            return None if row is None else dict(row)

    def ledger(self) -> list[Row]:
        """Return every ledger row."""
        with self.database.transaction(read_only=True) as tx:
            return [dict(row) for row in tx.execute(select(refunds)).mappings()]

    def is_quiet(self) -> bool:
        """Whether every turn has ended and no claim is open."""
        unended = select(turns.c.id).where(turns.c.state != "ended")
        with self.database.transaction(read_only=True) as tx:
            open_turns = list(tx.execute(unended).scalars())
        return not open_turns and all(row["state"] != "claimed" for row in self.ledger())

    def wait_for_late_answer(self, turn_id: str) -> Row:
        """Wait until a stale owner has left its answer beside the ledger row; return the row."""
        wait_until(lambda: bool((self.gate(turn_id) or {}).get("late_answer")))
        return self.gate(turn_id) or {}

    @contextmanager
    def tables_locked(self) -> Generator[None]:
        """Let nobody write a turn or a ledger row meanwhile."""
        url = self.database.engine.url.render_as_string(hide_password=False)
        with closing(Database(url)) as another, another.transaction() as tx:
            if another.is_postgresql:
                tx.execute(text("LOCK TABLE turns, refunds IN SHARE ROW EXCLUSIVE MODE"))
            self._locked = True
            try:
                yield
            finally:
                self._locked = False


@contextmanager
def open_lane(number: int, *, folder: Path, commands: Commands | None = None) -> Generator[Lane]:
    """Build one lane and start its service; everything ends with the context."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        url = make_url(stack.enter_context(fresh_database(folder)))
        database = Database(url.render_as_string(hide_password=False))
        stack.callback(database.close)
        broker = stack.enter_context(open_broker(number))
        model, payments = ChaosModel(), ChaosPayments()
        model_port = stack.enter_context(serve(model)).port
        payments_port = stack.enter_context(serve(payments)).port
        stack.callback(model.forget_holds)
        redis_port = make_url(broker.url).port or 6379

        def way(port: int) -> Way:
            return stack.enter_context(Way(port))

        way_to_database = None if url.get_backend_name() == "sqlite" else way(url.port or 5432)
        if way_to_database is not None:
            url = url.set(host="127.0.0.1", port=way_to_database.port)
        to_payments, to_provider = way(payments_port), way(model_port)
        lane = Lane(
            env={
                "DATABASE_URL": url.render_as_string(hide_password=False),
                "PAYMENTS_URL": f"http://127.0.0.1:{to_payments.port}",
                "OPENAI_BASE_URL": f"http://127.0.0.1:{to_provider.port}/v1",
                "OPENAI_API_KEY": "sk-of-the-chaos-run",
                "TURN_DEADLINE_SECONDS": str(DEADLINE_SECONDS),
                "WORKER_CONCURRENCY": "8",
                "WEB_THREADS": "16",
            },
            logs=folder,
            commands=commands or Commands(),
            database=database,
            broker=broker,
            model=model,
            payments=payments,
            web_to_redis=way(redis_port),
            worker_to_redis=way(redis_port),
            way_to_payments=to_payments,
            way_to_provider=to_provider,
            way_to_database=way_to_database,
        )
        stack.callback(lane.kill_all)
        lane.make_whole()
        yield lane
