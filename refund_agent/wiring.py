"""The composition root of refund chat and of what every process needs.

It and its neighbours `wiring_support`, `wiring_orders` and `wiring_agents` are the only ones that name an
adapter.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import redis

from refund_agent.adapters.http_payments import HttpPayments
from refund_agent.adapters.redis_audit import RedisAudit
from refund_agent.adapters.redis_client import connect
from refund_agent.adapters.redis_live import RedisLive
from refund_agent.adapters.redis_presence import RedisPresence
from refund_agent.adapters.redis_signals import RedisSignals
from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_inspection import SqlInspection
from refund_agent.adapters.sql_journal import SqlEvents
from refund_agent.adapters.sql_ledger import SqlLedger
from refund_agent.adapters.sql_migration import HEAD, current_migration
from refund_agent.adapters.sql_overview import SqlOverviews
from refund_agent.adapters.sql_retention import SqlRetention
from refund_agent.adapters.sql_sweeps import SqlSweeps
from refund_agent.adapters.sql_turn_files import SqlTurnFiles
from refund_agent.adapters.sql_turns import SqlTurns
from refund_agent.adapters.system_clock import SystemClock
from refund_agent.adapters.system_figures import SystemFigures
from refund_agent.doctor import Finding, LiveCheck, judge_maxmemory_policy, judge_migration
from refund_agent.journal import TurnJournal
from refund_agent.loop import Loop
from refund_agent.ports import Hints, Ledger, Queue, Signals
from refund_agent.prompts import REFUND_CHAT
from refund_agent.refunds import Refunds
from refund_agent.retention import Retention
from refund_agent.runner import Runner
from refund_agent.settings import CONTRACT_MODEL, Settings
from refund_agent.sweeper import Sweeper
from refund_agent.tools import Toolbox
from refund_agent.turn import Agent, RunsTurns

REDIS_CONNECTIONS = 3
"""A process; Celery's own come on top. Small Redis plans allow 20 in all."""
NO_KEY = "none"
"""The scripted model needs no key, but the SDK does not start without one."""
WORKER_ALIVE_SECONDS = 20.0
"""A worker says that it lives three times a lease, and a lease is at most 15 s."""


@dataclass(frozen=True, slots=True)
class Stores:
    """What web and worker both stand on. Opens nothing until it is used."""

    clock: SystemClock
    database: Database
    turns: SqlTurns
    redis: redis.Redis
    signals: RedisSignals

    def close(self) -> None:
        """Give all connections back."""
        self.database.close()
        self.redis.close()


@dataclass(frozen=True, slots=True)
class TurnHints:
    """Implements the port `Hints`: phases go to whoever watches the workers, endings to who waits."""

    signals: Signals
    send_phase: Callable[[str, str], None]

    def phase(self, turn_id: str, phase: str) -> None:
        """Tell that a running turn has reached a phase."""
        self.send_phase(turn_id, phase)

    def ended(self, turn_id: str) -> None:
        """Wake whoever waits for this turn."""
        self.signals.publish(turn_id)


def open_stores(settings: Settings) -> Stores:
    """Build the stores of one process."""
    clock = SystemClock()
    database = Database(settings.database_url)
    client = connect(settings.redis_url, connections=REDIS_CONNECTIONS)
    turns = SqlTurns(
        database,
        clock=clock,
        deadline_seconds=settings.turn_deadline_seconds,
        lease_seconds=settings.lease_seconds,
    )
    return Stores(clock, database, turns, client, RedisSignals(client))


def open_journal(stores: Stores) -> TurnJournal:
    """Build where events are noted: of the support agent's turns, and by the sweeper of any turn."""
    return TurnJournal(
        stored=stored_events(stores), live=RedisLive(stores.redis, clock=stores.clock), clock=stores.clock
    )


def stored_events(stores: Stores) -> SqlEvents:
    """Build what writes and reads the recorded events."""
    return SqlEvents(stores.database)


def live_events_reader(settings: Settings, stores: Stores) -> RedisLive:
    """Build what hears live events: for one reader, over one connection of its own."""
    return RedisLive(connect(settings.redis_url, connections=1), clock=stores.clock)


def _figures(stores: Stores) -> SystemFigures:
    return SystemFigures(stores.database, stores.redis, web=RedisPresence(stores.redis, kind="web"))


def live_checks(stores: Stores) -> dict[str, LiveCheck]:
    """Give `flask doctor` what it asks of the running database and Redis."""

    def redis_keeps_everything() -> Finding | None:
        memory = stores.redis.info("memory")
        return judge_maxmemory_policy(str(memory.get("maxmemory_policy", "noeviction")))

    def database_is_migrated() -> Finding | None:
        return judge_migration(current=current_migration(stores.database), head=HEAD)

    return {"Redis": redis_keeps_everything, "the database": database_is_migrated}


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """What runs turns, and what mends what other processes left behind."""

    runner: Runner
    sweeper: Sweeper
    sweeps: SqlSweeps
    presence: RedisPresence
    figures: SystemFigures
    chores: Sequence[Callable[[], object]]


@dataclass(frozen=True, slots=True)
class WebParts:
    """What a web process reads besides the turns themselves."""

    figures: SystemFigures
    presence: RedisPresence
    probes: dict[str, Callable[[], object]]
    inspection: SqlInspection
    workers_alive: Callable[[], Collection[str] | None]
    turn_files: SqlTurnFiles
    overviews: SqlOverviews


def build_retention(stores: Stores) -> Retention:
    """Build what forgets old conversations."""
    return SqlRetention(stores.database)


def build_web(stores: Stores) -> WebParts:
    """Build the figures and the probes of one web process."""
    workers = RedisPresence(stores.redis, kind="worker")

    def find_a_worker() -> None:
        if not workers.alive(within_seconds=WORKER_ALIVE_SECONDS):
            raise LookupError("no worker has been heard of lately")

    def workers_alive() -> Collection[str] | None:
        try:
            return workers.alive(within_seconds=WORKER_ALIVE_SECONDS)
        except redis.RedisError:
            return None

    return WebParts(
        figures=_figures(stores),
        presence=RedisPresence(stores.redis, kind="web"),
        probes={"database": stores.database.probe, "redis": stores.redis.ping, "worker": find_a_worker},
        inspection=SqlInspection(stores.database),
        workers_alive=workers_alive,
        turn_files=SqlTurnFiles(stores.database),
        overviews=SqlOverviews(stores.database),
    )


def build_worker(  # noqa: PLR0913 - a composition root takes what others built
    settings: Settings,
    stores: Stores,
    *,
    queue: Queue,
    send_phase: Callable[[str, str], None],
    agents: Mapping[Agent, RunsTurns],
    chores: Sequence[Callable[[], object]],
) -> WorkerParts:
    """Build one worker process's parts; `agents` are those beside refund chat, `chores` go with a sweep."""
    hints = TurnHints(stores.signals, send_phase)
    sweeps = SqlSweeps(
        stores.database,
        lease_seconds=settings.lease_seconds,
        payments_timeout_seconds=settings.payments_timeout_seconds,
    )
    loop = _refund_chat_loop(settings, stores, hints=hints)
    return WorkerParts(
        runner=Runner(
            turns=stores.turns,
            agents={"refund_chat": loop, **agents},
            hints=hints,
            owner=settings.process_id,
        ),
        sweeper=Sweeper(
            sweeps=sweeps,
            turns=stores.turns,
            queue=queue,
            audit=RedisAudit(stores.redis),
            hints=hints,
            journal=open_journal(stores),
        ),
        sweeps=sweeps,
        presence=RedisPresence(stores.redis, kind="worker"),
        figures=_figures(stores),
        chores=chores,
    )


def build_refunds(settings: Settings, stores: Stores, *, ledger: Ledger, hints: Hints) -> Refunds:
    """Build the only code that moves money: every agent's goes to the same payments service."""
    return Refunds(
        ledger=ledger,
        payments=HttpPayments(
            settings.payments_url, settings.payments_token, settings.payments_timeout_seconds
        ),
        audit=RedisAudit(stores.redis),
        hints=hints,
        clock=stores.clock,
        payments_timeout_seconds=settings.payments_timeout_seconds,
    )


def _refund_chat_loop(settings: Settings, stores: Stores, *, hints: Hints) -> Loop:
    """Build the loop of the refund chat: one tool, one pinned model."""
    from refund_agent.adapters.openai_model import OpenAIModel  # noqa: PLC0415 - 20 MB, for workers only

    refunds = build_refunds(settings, stores, ledger=SqlLedger(stores.database), hints=hints)
    return Loop(
        instructions=REFUND_CHAT,
        model=OpenAIModel(
            api_key=settings.openai_api_key or NO_KEY,
            base_url=settings.openai_base_url,
            model=CONTRACT_MODEL,
            connections=settings.worker_concurrency,
            price=settings.model_prices.get(CONTRACT_MODEL),
        ),
        toolbox=Toolbox([refunds.tool()]),
        turns=stores.turns,
        hints=hints,
        clock=stores.clock,
        completion_timeout_seconds=settings.completion_timeout_seconds,
        backoff_seconds=settings.backoff_seconds,
    )
