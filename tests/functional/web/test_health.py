"""Alive, ready, and the figures."""

import threading
import time

import pytest

from tests.functional.web.conftest import Web, problem_of
from web import health
from web.health import WalledProbe


def away() -> None:
    raise ConnectionError("CANARY: password in a URL")


def test_alive_asks_nothing(web: Web) -> None:
    web.probes.update(database=away, redis=away, worker=away)
    answer = web.client.get("/healthz")

    assert (answer.status_code, answer.json) == (200, {"status": "alive"})


def test_ready_when_everything_answers(web: Web) -> None:
    web.probes.update(database=lambda: None, redis=lambda: None, worker=lambda: ["w1"])
    answer = web.client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json == {"status": "ready", "checks": {"database": "ok", "redis": "ok", "worker": "ok"}}


@pytest.mark.parametrize("name", ["database", "redis", "worker"])
def test_not_ready_names_what_is_missing(web: Web, name: str) -> None:
    web.probes.update(database=lambda: None, redis=lambda: None, worker=lambda: None)
    web.probes[name] = away
    answer = web.client.get("/readyz")

    problem = problem_of(answer, 503)
    assert problem["checks"] == {**dict.fromkeys(("database", "redis", "worker"), "ok"), name: "failed"}
    assert name in problem["detail"]
    assert "Retry-After" in answer.headers
    assert "CANARY" not in answer.text


def test_ready_again_once_everything_is_back(web: Web) -> None:
    failing = [True, False]
    web.probes["redis"] = lambda: away() if failing.pop(0) else None

    assert [web.client.get("/readyz").status_code for _ in range(2)] == [503, 200]


def test_probes_that_hang_are_cut_together_and_never_pile_up(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "PROBE_SECONDS", 0.2)
    release = threading.Event()
    asked: list[str] = []

    def hangs() -> None:
        asked.append("database")
        release.wait(30)

    web.probes.update(database=hangs, redis=lambda: release.wait(30), worker=lambda: None)
    started = time.monotonic()
    answers = [web.client.get("/readyz") for _ in range(3)]
    took = time.monotonic() - started
    release.set()

    for answer in answers:
        checks = problem_of(answer, 503)["checks"]
        assert checks == {"database": "timed out", "redis": "timed out", "worker": "ok"}
    assert asked == ["database"]
    assert took < 3 * 0.2 + 1


def test_a_probe_that_hung_is_asked_again_once_it_has_come_back() -> None:
    release = threading.Event()
    probe = WalledProbe("database", lambda: release.wait(30))
    probe.start()
    assert probe.verdict(until=time.monotonic() + 0.05) == "timed out"
    release.set()

    assert probe.verdict(until=time.monotonic() + 5) == "ok"
    probe.start()
    assert probe.verdict(until=time.monotonic() + 5) == "ok"


def test_metrics_are_prometheus_text(web: Web) -> None:
    answer = web.client.get("/metrics")

    assert answer.data == b"# no figures\n"
    assert answer.content_type.startswith("text/plain; version=0.0.4")
