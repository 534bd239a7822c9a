"""What one worker process holds, from its start to its end."""

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from celery import signals

from refund_agent import logs, wiring, wiring_agents, wiring_orders
from refund_agent.doctor import UnsafeConfiguration, refuse_unsafe
from refund_agent.doctor_celery import check_celery, check_task
from refund_agent.doctor_support import check_support
from refund_agent.runner import Runner
from refund_agent.settings import Settings, read_settings
from tasks.app import app
from tasks.garbage import spare_what_stays
from tasks.phases import PhaseSender
from tasks.queue import TASK, CeleryQueue
from tasks.upkeep import Upkeep


@dataclass(frozen=True, slots=True)
class Worker:
    """The parts of one worker process."""

    pid: int
    runner: Runner
    upkeep: Upkeep
    phases: PhaseSender

    def start(self) -> None:
        """Begin to keep leases, to sweep and to tell phases."""
        self.phases.start()
        self.upkeep.start()

    def stop(self) -> None:
        """Stop what `start` began."""
        self.upkeep.stop()
        self.phases.stop()


_lock = threading.Lock()
_worker: Worker | None = None


def worker() -> Worker:
    """Return this process's worker, built and started on first use: after any fork, never at import."""
    global _worker  # noqa: PLW0603 - Celery gives tasks no other place for what a process holds
    with _lock:
        if _worker is None or _worker.pid != os.getpid():
            _worker = _build(read_settings())
            _worker.start()
        return _worker


def runner() -> Runner:
    """Return what runs turns in this process."""
    return worker().runner


def _build(settings: Settings) -> Worker:
    stores = wiring.open_stores(settings)
    phases = PhaseSender(app, hostname=f"{settings.dyno or 'worker'}@{settings.process_id}")
    queue = CeleryQueue(app, doorbell=stores.redis, deadline_seconds=settings.turn_deadline_seconds)
    agents = wiring_agents.build_agents(settings, stores, send_phase=phases.send, today=stores.clock.today())
    parts = wiring.build_worker(
        settings,
        stores,
        queue=queue,
        send_phase=phases.send,
        agents=agents,
        chores=wiring_agents.build_chores(settings, stores, queue=queue),
    )
    upkeep = Upkeep(
        parts, owner=settings.process_id, clock=stores.clock, lease_seconds=settings.lease_seconds
    )
    return Worker(os.getpid(), parts.runner, upkeep, phases)


@signals.setup_logging.connect
def _on_logging(**_: Any) -> None:  # noqa: ANN401 - Celery's signal arguments
    """Write our JSON lines; a connected receiver keeps Celery from setting up its own."""
    logs.configure(read_settings().log_level)


@signals.worker_init.connect
def _on_init(**_: Any) -> None:  # noqa: ANN401 - Celery's signal arguments
    """Refuse to start with a configuration that is unsafe. Celery swallows anything but SystemExit here."""
    settings = read_settings()
    conf = cast("Mapping[str, object]", app.conf)
    findings = [
        *check_celery(conf, deadline_seconds=settings.turn_deadline_seconds),
        *check_task(app.tasks[TASK]),
        *check_support(settings),
        *wiring_orders.diagnose_orders(settings),
    ]
    try:
        refuse_unsafe(settings, findings)
    except UnsafeConfiguration as error:
        raise SystemExit(str(error)) from error


@signals.worker_ready.connect
def _on_ready(**_: Any) -> None:  # noqa: ANN401 - Celery's signal arguments
    worker()
    spare_what_stays()


@signals.worker_shutting_down.connect
def _on_shutting_down(**_: Any) -> None:  # noqa: ANN401 - Celery's signal arguments
    """SIGTERM: Celery takes no new work and waits for what runs; what cannot finish is handed over."""
    if _worker is not None:
        _worker.upkeep.drain()


@signals.worker_shutdown.connect
def _on_shutdown(**_: Any) -> None:  # noqa: ANN401 - Celery's signal arguments
    if _worker is not None:
        _worker.stop()
