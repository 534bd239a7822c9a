"""Plays a scenario over HTTP against the running service, shows what happened, and judges it."""

import json
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import requests

from sandbox.answers import Json
from sandbox.pages import money
from sandbox.payments import Payments
from sandbox.scenarios import Scenario

PATIENCE_SECONDS = 150.0
"""Longer than the longest turn: 5 completions of 20 s, 2 s of backoff and 10 s of payments."""
_STATE_AND_REVIEW = "SELECT state, review FROM refunds WHERE turn_id = ?"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a scenario. `ledger` is the turn's row as `ledger_row` gives it."""

    status: int
    body: Json
    turn_id: str
    seconds: float
    posts: int
    moved: list[tuple[str, int]]
    ledger: str | None


def play(scenario: Scenario, *, url: str, token: str, payments: Payments, ledger_file: Path) -> Result:
    """Put payments into the scenario's mode, ask once as the portal does, and look at every side."""
    posts_before, moved_before = payments.request_count, len(payments.moved)
    payments.will(scenario.payments)
    started = time.monotonic()
    with requests.Session() as session:
        session.trust_env = False
        answer = session.post(
            f"{url}/support/refund-chat",
            json=request_body(scenario),
            headers={"Authorization": f"Bearer {token}"} if token else None,
            timeout=PATIENCE_SECONDS,
        )
    seconds = time.monotonic() - started
    turn_id = answer.headers.get("X-Turn-Id", "")
    return Result(
        status=answer.status_code,
        body=answer.json(),
        turn_id=turn_id,
        seconds=seconds,
        posts=payments.request_count - posts_before,
        moved=payments.moved[moved_before:],
        ledger=ledger_row(ledger_file, turn_id),
    )


def request_body(scenario: Scenario) -> dict[str, str]:
    """Return what the portal would send."""
    return {"user_id": "customer-17", "message": scenario.message}


def ledger_row(ledger_file: Path, turn_id: str) -> str | None:
    """Read a turn's row: its state, and "for review" when it is marked so; None when there is no row."""
    connection = sqlite3.connect(f"file:{quote(str(ledger_file))}?mode=ro", uri=True)
    try:
        row = connection.execute(_STATE_AND_REVIEW, (turn_id,)).fetchone()
    finally:
        connection.close()
    return None if row is None else f"{row[0]}, for review" if row[1] else str(row[0])


def differences(scenario: Scenario, result: Result) -> list[str]:
    """Say what is not as the scenario expects; nothing when all is."""
    moved_cents = tuple(cents for _, cents in result.moved)
    compared = (
        ("HTTP status", scenario.status, result.status),
        ("refund requests sent", scenario.posts, result.posts),
        ("cents moved", scenario.moved_cents, moved_cents),
        ("ledger", scenario.ledger, result.ledger),
        ("refund in the problem", _problem_state(scenario.status, scenario.ledger), _refund_in(result.body)),
    )
    return [f"{what}: expected {right}, got {got}" for what, right, got in compared if right != got]


def _problem_state(status: int, ledger: str | None) -> str | None:
    """Return what a problem has to say of the refund; a reply says nothing there."""
    return None if status == requests.codes.ok or ledger == "closed" else ledger


def _refund_in(body: Json) -> str | None:
    match body:
        case {"refund": {"state": str(state)}}:
            return state
        case _:
            return None


def story(scenario: Scenario, result: Result, *, url: str) -> Iterator[str]:
    """Tell request, answer, money and ledger, and what it means, line by line."""
    yield f"  -> POST {url}/support/refund-chat"
    yield f"     {json.dumps(request_body(scenario))}"
    yield f"  <- {result.status} after {result.seconds:.1f} s (turn {result.turn_id})"
    yield from (f"     {line}" for line in json.dumps(result.body, indent=2, ensure_ascii=False).splitlines())
    sums = ", ".join(f"{money(cents)} for order {order_id}" for order_id, cents in result.moved)
    yield f"  payments   {_count(result.posts, 'refund request')} came in; money moved: {sums or 'none'}"
    yield f"  ledger     {result.ledger or 'no row: no refund was ever attempted'}"
    yield ""
    wrong = differences(scenario, result)
    if wrong:
        yield "NOT as expected:"
        yield from (f"  {line}" for line in wrong)
    else:
        yield f"As expected. {scenario.meaning}"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
