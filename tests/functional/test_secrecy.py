"""Nothing of a customer, no token and no password is where it has no business to be.

One turn runs with planted words, and everything that can be looked at is: what goes through the broker,
Celery's inspection and events, the logs, Flower. Each look has a control: the turn's id is found there.
"""

import base64
import json
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import pytest
import requests
from celery import Celery

from sandbox.model import Model, calls_refund, says
from sandbox.payments import Payments
from sandbox.processes import Process
from tests.functional.conftest import API_KEY, PAYMENTS_TOKEN, USUAL
from tests.functional.plays import Hold
from tests.functional.sealed import FLOWER_AUTH, FLOWER_LOGIN, REDIS_PASSWORD, Sealed, run_sealed
from tests.functional.stand import TOKEN, turn_id, wait_until
from tests.functional.watching import CommandWatch, EventWatch, unwrapped

pytestmark = pytest.mark.timeout(150)  # seconds, for a busy machine

CANARY = uuid.uuid4().hex
MESSAGE = f"message-{CANARY} refund 5.00"
USER = f"user-{CANARY}"
ORDER = f"ORDER-{CANARY}"
DETAIL = f"detail-{CANARY}"
REPLY = f"reply-{CANARY}"
SECRETS = (CANARY, TOKEN, API_KEY, PAYMENTS_TOKEN, REDIS_PASSWORD, FLOWER_LOGIN[1])


@dataclass
class Watched:
    """One turn with planted words, and what was seen while it ran and afterwards."""

    turn: str
    answer: requests.Response
    inspected: dict[str, Any]
    commands: list[str] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)


@pytest.fixture(scope="module")
def sealed(
    outside: tuple[Model, Payments, dict[str, str]],
    make_database: Callable[[], str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Sealed]:
    model, payments, env = outside
    with run_sealed(
        {**env, **USUAL},
        make_database=make_database,
        model=model,
        payments=payments,
        logs=tmp_path_factory.mktemp("sealed-logs"),
    ) as running:
        yield running


@pytest.fixture(scope="module")
def watched(sealed: Sealed) -> Watched:
    """Run one turn that asks payments, and keep everything that can be seen of it."""
    stand = sealed.stand
    stand.forget()
    broker = Celery(broker=stand.redis_url, set_as_current=False)
    commands = CommandWatch(stand.redis_url)
    events = EventWatch(broker)
    with commands, events, Hold() as hold:
        stand.model.will(hold.on(calls_refund(ORDER, 500)), says(REPLY))
        soon: Future[requests.Response] = stand.chat_soon(f"{MESSAGE} for {ORDER}", user_id=USER)
        assert stand.model.wait_for_requests(1)
        inspect = broker.control.inspect(timeout=3.0, limit=1)
        inspected = {
            "active": inspect.active(),
            "reserved": inspect.reserved(),
            "scheduled": inspect.scheduled(),
            "stats": inspect.stats(),
            "conf": inspect.conf(),
        }
        hold.let_go()
        answer = soon.result()
        wait_until(lambda: {"task-succeeded", "task-asking-payments"} <= {e["type"] for e in events.seen})
    broker.close()
    return Watched(turn_id(answer), answer, inspected, commands.seen, events.seen)


def test_the_planted_turn_really_ran(watched: Watched, sealed: Sealed) -> None:
    assert watched.answer.json() == {"reply": REPLY}
    assert sealed.stand.payments.moved == [(ORDER, 500)]


@pytest.mark.contract("C15")
def test_a_turn_runs_over_rediss_with_a_self_signed_certificate(watched: Watched, sealed: Sealed) -> None:
    assert sealed.stand.env["REDIS_URL"].startswith("rediss://")
    assert "ssl_cert_reqs" not in sealed.stand.env["REDIS_URL"]
    assert watched.answer.status_code == 200
    assert sealed.stand.mirror(watched.turn)["state"] == "paid"


@pytest.mark.fault(66, 99)
def test_the_message_carries_the_turns_id_and_nothing_else(watched: Watched) -> None:
    (message,) = [command for command in watched.commands if command.startswith("LPUSH turns ")]

    envelope = json.loads(message.removeprefix("LPUSH turns "))
    args, kwargs, _ = json.loads(base64.b64decode(envelope["body"]))
    assert (args, kwargs) == ([watched.turn], {})
    assert envelope["headers"]["id"] == watched.turn
    no_secret_in(unwrapped(message))


@pytest.mark.fault(66)
def test_nothing_but_the_audit_tells_redis_more_than_ids(watched: Watched) -> None:
    audit = [command for command in watched.commands if "refunds:" in command]
    rest = "\n".join(unwrapped(command) for command in watched.commands if command not in audit)

    assert watched.turn in rest
    no_secret_in(rest)
    told = "\n".join(audit)
    assert ORDER in told, "what the audit is for"
    for planted in (MESSAGE, USER, REPLY, TOKEN, API_KEY, PAYMENTS_TOKEN):
        assert planted not in told


@pytest.mark.fault(66)
def test_inspecting_a_worker_shows_the_turns_id_and_no_more(watched: Watched) -> None:
    ((task,),) = watched.inspected["active"].values()

    assert (task["id"], task["args"], task["kwargs"]) == (watched.turn, [watched.turn], {})
    no_secret_in(json.dumps(watched.inspected, default=repr))


@pytest.mark.fault(66)
def test_events_tell_a_turns_phases_and_no_more(watched: Watched) -> None:
    of_turn = [event for event in watched.events if event.get("uuid") == watched.turn]

    phases = [event["type"] for event in of_turn]
    assert {"task-received", "task-thinking", "task-asking-payments"} <= set(phases)
    assert phases.index("task-thinking") < phases.index("task-asking-payments")
    no_secret_in(json.dumps(watched.events, default=repr))


@pytest.mark.fault(65, 69)
def test_the_logs_name_the_turn_and_nobody(watched: Watched, sealed: Sealed) -> None:
    for process in (sealed.stand.web, sealed.stand.worker):
        said = process.log.read_text("utf-8")

        assert watched.turn in said
        no_secret_in(said)


@pytest.mark.fault(65, 69)
@pytest.mark.parametrize(
    "script",
    ["http-401", "http-500", "cut-json", "legacy-function-call", "surrogate-in-content", "reset"],
)
def test_the_logs_stay_silent_when_things_go_wrong(watched: Watched, sealed: Sealed, script: str) -> None:
    stand = sealed.stand
    stand.model.reset()
    stand.payments.will("detail-secret")
    stand.model.will(calls_refund(f"{ORDER}-{script}", 500), script)

    answer = stand.chat(f"{MESSAGE} for {ORDER}-{script}", user_id=USER)

    stand.wait_for_task(turn_id(answer))
    for process in (stand.web, stand.worker):
        said = process.log.read_text("utf-8")
        assert turn_id(answer) in said
        no_secret_in(said)
        assert "hunter2" not in said
        assert "4111111111111111" not in said


@pytest.mark.fault(68)
def test_the_brokers_password_is_masked_in_every_log(watched: Watched, sealed: Sealed) -> None:
    logs = [process.log for process in (sealed.stand.web, sealed.stand.worker, sealed.flower)]

    assert any(":**@127.0.0.1" in log.read_text("utf-8") for log in logs)
    for log in logs:
        assert REDIS_PASSWORD not in log.read_text("utf-8")


@pytest.mark.fault(66, 67, 68)
def test_flower_shows_the_turn_by_its_id_and_no_secret_on_any_page(watched: Watched, sealed: Sealed) -> None:
    # Its parts come with events, of which those of one turn are gathered from several places.
    wait_until(lambda: bool(sealed.ask_flower("/api/tasks").json().get(watched.turn, {}).get("args")))

    task = sealed.ask_flower("/api/tasks").json()[watched.turn]
    assert task["args"].strip("[(,)]") == f"'{watched.turn}'"
    assert task["kwargs"] == "{}"
    for path in ("/api/tasks", f"/task/{watched.turn}", "/tasks", "/workers", "/broker", "/api/workers"):
        page = sealed.ask_flower(path)
        assert page.status_code == 200, path
        no_secret_in(page.text)
    no_secret_in(sealed.flower.log.read_text("utf-8"))


@pytest.mark.fault(66)
@pytest.mark.parametrize("path", ["/", "/tasks", "/api/tasks", "/api/workers", "/broker"])
@pytest.mark.parametrize("login", [None, ("operator", "wrong")])
def test_flower_shows_nothing_without_its_login(
    sealed: Sealed, path: str, login: tuple[str, str] | None
) -> None:
    assert sealed.ask_flower(path, login=login).status_code == 401


def test_flower_refuses_to_start_without_a_login(
    sealed: Sealed, tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = tmp_path_factory.mktemp("flower") / "flower.log"
    without = {**sealed.stand.env, "PORT": "0"}
    assert "FLOWER_BASIC_AUTH" not in without
    flower = Process("flower", env=without, log=log)
    try:
        assert flower.wait(20.0)
    finally:
        flower.kill()

    assert "FLOWER_BASIC_AUTH is not set" in log.read_text("utf-8")
    assert FLOWER_AUTH not in log.read_text("utf-8")


def no_secret_in(text: str) -> None:
    """Check that no planted word is in a text, in any case."""
    lowered = text.lower()
    for secret in SECRETS:
        assert secret.lower() not in lowered
