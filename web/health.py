"""Is the process alive, is the service ready, and what do its figures say."""

import threading
import time
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import structlog
from flask import Blueprint, Response, jsonify

from web.kinds import Kind
from web.problems import RETRY_AFTER, Problem, respond
from web.services import Probe, WebServices

log = structlog.stdlib.get_logger(__name__)

PROBE_SECONDS: Final = 2.0
"""For all probes together; they run at the same time."""

METRICS_CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

ProbeResult: TypeAlias = Literal["ok", "failed", "timed out"]


class WalledProbe:
    """Runs a probe with a time limit, and never twice at once: a hung one cannot pile up threads."""

    def __init__(self, name: str, probe: Probe) -> None:
        self._name = name
        self._probe = probe
        self._starting = threading.Lock()
        self._done = threading.Event()
        self._running = False
        self._verdict: ProbeResult = "failed"

    def start(self) -> None:
        """Begin to ask, unless an earlier question still hangs."""
        with self._starting:
            if self._running:
                return
            self._running = True
            self._done.clear()
        threading.Thread(target=self._ask, name=f"probe-{self._name}", daemon=True).start()

    def verdict(self, *, until: float) -> ProbeResult:
        """Wait for the answer, at most until this reading of the monotonic clock."""
        return self._verdict if self._done.wait(max(0.0, until - time.monotonic())) else "timed out"

    def _ask(self) -> None:
        try:
            self._probe()
            self._verdict = "ok"
        except Exception as error:  # noqa: BLE001 - whatever it is, the thing is not there
            log.warning("probe_failed", probe=self._name, error=type(error).__name__)
            self._verdict = "failed"
        finally:
            self._running = False
            self._done.set()


def blueprint(services: WebServices) -> Blueprint:
    """Return `/healthz`, `/readyz` and `/metrics`."""
    routes = Blueprint("health", __name__)
    probes = {name: WalledProbe(name, probe) for name, probe in services.probes.items()}

    @routes.get("/healthz")
    def healthz() -> Response:
        return jsonify({"status": "alive"})

    @routes.get("/readyz")
    def readyz() -> Response:
        return _readiness(probes)

    @routes.get("/metrics")
    def metrics() -> Response:
        return Response(services.render_metrics(), content_type=METRICS_CONTENT_TYPE)

    return routes


def _readiness(probes: Mapping[str, WalledProbe]) -> Response:
    for probe in probes.values():
        probe.start()
    until = time.monotonic() + PROBE_SECONDS
    checks = {name: probe.verdict(until=until) for name, probe in probes.items()}
    failed = [name for name, verdict in checks.items() if verdict != "ok"]
    if not failed:
        return jsonify({"status": "ready", "checks": checks})
    detail = f"Not ready: {', '.join(failed)}."
    return respond(Problem(Kind.NOT_READY, detail, members={"checks": checks}, headers=RETRY_AFTER))
