"""No database, no turn: 503 within 3 s, nothing stored, nothing sent."""

import sqlite3
import time
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import closing, contextmanager

import pytest
import requests
from sqlalchemy import make_url

from sandbox.completions import calls_refund, says
from tests.conftest import DATABASE_SERVER
from tests.functional.rough import Rough
from tests.functional.stand import Row, Stand, problem, turn_id

ENOUGH_SECONDS = 4.0
"""Three by the contract, and one for a busy machine."""

FAULTS = ["refuse", "freeze"] if DATABASE_SERVER else ["lock"]


@contextmanager
def database_away(rough: Rough, fault: str) -> Generator[None]:
    """Take the database from the web: by the proxy, or SQLite by a lock that somebody else holds."""
    if fault == "lock":
        path = make_url(rough.stand.env["DATABASE_URL"]).database
        assert path is not None
        with closing(sqlite3.connect(path, isolation_level=None)) as somebody:
            somebody.execute("BEGIN EXCLUSIVE")
            yield
        return
    assert rough.way_to_database is not None
    getattr(rough.way_to_database, fault)()
    yield
    rough.way_to_database.heal()


@pytest.mark.contract("C72", "C73", "C74")
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("at_once", [1, 20])
def test_a_database_that_is_away_is_503_within_three_seconds_and_nothing_runs(
    rough: Rough, fault: str, at_once: int
) -> None:
    with database_away(rough, fault):
        soon: list[Future[tuple[requests.Response, float]]] = [
            rough.stand.pool.submit(timed, rough.stand) for _ in range(at_once)
        ]
        answers = [future.result() for future in soon]

    assert max(seconds for _, seconds in answers) < ENOUGH_SECONDS
    for answer, _ in answers:
        document = problem(answer, 503)
        assert document["type"] == "urn:refund-agent:problem:not-stored"
        assert document["refund"] is None
        assert int(answer.headers["Retry-After"]) >= 1
    assert rough.stand.chat("hello").status_code == 200
    # A frozen database may still take what was sent to it; nothing runs a turn that was not queued.
    ran = [turn for turn in rough.stand.turns() if turn["state"] != "stored" and not never_ran(turn)]
    assert len(ran) == 1
    assert rough.stand.model.request_count == 1, "only the turn that came after"
    assert rough.stand.payments.request_count == 0


@pytest.mark.contract("C72", "C84")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_retry_of_what_was_paid_is_promised_nothing_while_the_database_is_away(
    rough: Rough, fault: str
) -> None:
    """The first answer was lost on its way: "no refund ever" would make somebody ask for another."""
    key = {"Idempotency-Key": "one-composed-message"}
    rough.stand.model.will(calls_refund("A1", 500), says("Done."))
    first = rough.stand.chat("refund 5.00 for order A1", headers=key)
    assert first.json() == {"reply": "Done."}

    with database_away(rough, fault):
        document = problem(rough.stand.chat("refund 5.00 for order A1", headers=key), 503)
    again = rough.stand.chat("refund 5.00 for order A1", headers=key)

    assert document["type"] == "urn:refund-agent:problem:key-unreadable"
    assert document["refund"] == {"state": "unknown"}
    assert (again.json(), again.headers["Idempotent-Replayed"]) == ({"reply": "Done."}, "true")
    assert turn_id(again) == turn_id(first)
    assert rough.stand.payments.moved == [("A1", 500)]


def never_ran(turn: Row) -> bool:
    return bool(turn["outcome"] == "not_accepted" and turn["completions_used"] == 0)


def timed(stand: Stand) -> tuple[requests.Response, float]:
    """Ask for a refund, and say how long the answer took."""
    started = time.monotonic()
    answer = stand.chat("refund 5.00 for order A1")
    return answer, time.monotonic() - started
