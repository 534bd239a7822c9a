"""`GET /support/turns/{id}/events` over a real database and Redis."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import redis
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from refund_agent.outcomes import BudgetExhausted
from refund_agent.turn import TurnRecord
from sandbox.embedded_redis import free_port
from tests.functional.stand import wait_until
from tests.functional.web.conftest import problem_of
from tests.functional.web.turn_stage import CUSTOMER, TurnStage, everybody, read_stream
from web.turn_events import Access

OPEN = Access(allowed=everybody, shows_all=everybody)
NOWHERE = "8e03978e-40d5-43dd-bc93-6894a57f9324"


@pytest.fixture
def stage(database_url: str, redis_url: str) -> Iterator[TurnStage]:
    opened = TurnStage(database_url, redis_url)
    yield opened
    opened.close()


@pytest.fixture
def client(stage: TurnStage) -> FlaskClient:
    return stage.app(OPEN).test_client()


class Viewer:
    """Reads a stream in a thread of its own, as a browser does beside everything else."""

    def __init__(self, client: FlaskClient, path: str, **how: Any) -> None:
        self.received = b""
        self.answer: TestResponse = client.get(path, buffered=False, **how)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        for piece in self.answer.iter_encoded():
            self.received += piece

    @property
    def events(self) -> list[tuple[int, str]]:
        return [(number, name) for number, name, _ in read_stream(self.received)]

    def sees(self, *events: tuple[int, str]) -> None:
        wait_until(lambda: self.events == list(events))

    def ends_with(self, *events: tuple[int, str]) -> None:
        self._thread.join(10)
        assert not self._thread.is_alive()
        assert self.events == list(events)
        self.answer.close()


def path_of(turn_id: str) -> str:
    return f"/support/turns/{turn_id}/events"


def names(answer: TestResponse) -> list[tuple[int, str]]:
    assert answer.status_code == 200, answer.text
    return [(number, name) for number, name, _ in read_stream(answer.data)]


def test_an_ended_turn_is_told_from_beginning_to_end(stage: TurnStage, client: FlaskClient) -> None:
    turn = stage.begin()
    stage.note(turn, "begun")
    stage.note(turn, "step", text="Hello.")
    stage.end(turn)

    answer = client.get(path_of(turn.id))

    assert names(answer) == [(1, "begun"), (2, "step"), (3, "ended")]
    assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Accel-Buffering"] == "no"
    assert answer.headers["X-Turn-Id"] == turn.id
    body = read_stream(answer.data)[-1][2]
    assert (body["state"], body["reply"]) == ("done", "Done.")


def test_a_turn_that_recorded_nothing_has_its_end(stage: TurnStage, client: FlaskClient) -> None:
    turn = stage.begin()
    stage.end(turn, BudgetExhausted())

    ((number, name, body),) = read_stream(client.get(path_of(turn.id)).data)
    assert (number, name, body["state"], body["problem"]["status"]) == (1, "ended", "failed", 502)


def test_what_happens_is_seen_as_it_happens(stage: TurnStage, client: FlaskClient) -> None:
    turn = stage.begin()
    stage.note(turn, "begun")
    viewer = Viewer(client, path_of(turn.id))
    viewer.sees((1, "begun"))

    stage.note(turn, "thinking")
    viewer.sees((1, "begun"), (2, "thinking"))
    stage.end(turn)
    viewer.ends_with((1, "begun"), (2, "thinking"), (3, "ended"))


@pytest.mark.fault(55)
def test_an_event_whose_publishing_was_lost_is_seen_all_the_same(
    stage: TurnStage, client: FlaskClient
) -> None:
    turn = stage.begin()
    viewer = Viewer(client, path_of(turn.id))
    stage.note_unheard(turn)
    viewer.sees((1, "step"))
    stage.note_unheard(turn)
    stage.note(turn)
    viewer.sees((1, "step"), (2, "step"), (3, "step"))
    stage.end(turn)
    viewer.ends_with((1, "step"), (2, "step"), (3, "step"), (4, "ended"))


@pytest.mark.fault(55)
def test_redis_forgetting_everything_loses_no_event(
    stage: TurnStage, client: FlaskClient, redis_client: redis.Redis
) -> None:
    turn = stage.begin()
    viewer = Viewer(client, path_of(turn.id))
    stage.note(turn)
    viewer.sees((1, "step"))
    redis_client.flushdb()
    stage.note(turn)
    viewer.sees((1, "step"), (2, "step"))
    stage.end(turn)
    viewer.ends_with((1, "step"), (2, "step"), (3, "ended"))


def test_without_redis_a_stream_is_a_second_late_and_complete(database_url: str) -> None:
    stage = TurnStage(database_url, f"redis://127.0.0.1:{free_port()}/0")
    turn = stage.begin()
    viewer = Viewer(stage.app(OPEN).test_client(), path_of(turn.id))
    stage.note(turn)
    viewer.sees((1, "step"))
    stage.end(turn)
    viewer.ends_with((1, "step"), (2, "ended"))
    stage.close()


@pytest.mark.fault(55)
@pytest.mark.parametrize("way", ["header", "query"])
def test_a_stream_that_broke_goes_on_where_it_was(stage: TurnStage, client: FlaskClient, way: str) -> None:
    turn = stage.begin()
    for _ in range(3):
        stage.note(turn)
    stage.end(turn)

    if way == "header":
        answer = client.get(path_of(turn.id), headers={"Last-Event-ID": "2"})
    else:
        answer = client.get(f"{path_of(turn.id)}?last_event_id=2")
    assert names(answer) == [(3, "step"), (4, "ended")]


@pytest.mark.fault(55)
def test_an_event_source_that_saw_the_end_is_told_to_stop(stage: TurnStage, client: FlaskClient) -> None:
    turn = stage.begin()
    stage.note(turn)
    stage.end(turn)

    answer = client.get(path_of(turn.id), headers={"Last-Event-ID": "2"})
    assert (answer.status_code, answer.data) == (204, b"")


@pytest.mark.parametrize("given", ["", "-1", "1.5", "x", "٣", "9" * 40, "1\u00b2"])
def test_a_last_event_id_that_is_none_starts_at_the_beginning(
    stage: TurnStage, client: FlaskClient, given: str
) -> None:
    turn = stage.begin()
    stage.note(turn)
    stage.end(turn)
    assert names(client.get(path_of(turn.id), query_string={"last_event_id": given})) == [
        (1, "step"),
        (2, "ended"),
    ]


def test_a_number_from_the_future_hides_no_event_of_a_running_turn(
    stage: TurnStage, client: FlaskClient
) -> None:
    turn = stage.begin()
    stage.note(turn)
    viewer = Viewer(client, path_of(turn.id), headers={"Last-Event-ID": "77"})
    stage.note(turn)
    stage.end(turn)
    viewer.ends_with((2, "step"), (3, "ended"))


def readers(redis_client: redis.Redis) -> set[str]:
    """Return the ids of the connections that read streams; those of earlier tests may not be closed yet."""
    clients: Any = redis_client.client_list()
    return {entry["id"] for entry in clients if entry["cmd"] == "xread"}


def test_many_viewers_of_one_process_share_one_connection(
    stage: TurnStage, client: FlaskClient, redis_client: redis.Redis
) -> None:
    turns = [stage.begin(f"customer-{n}") for n in range(8)]
    before = readers(redis_client)
    viewers = [Viewer(client, path_of(turn.id)) for turn in turns]
    for turn in turns:
        stage.note(turn)
    for viewer in viewers:
        viewer.sees((1, "step"))
    assert len(readers(redis_client) - before) == 1
    assert stage.places.taken == 8
    for turn in turns:
        stage.end(turn)
    for viewer in viewers:
        viewer.ends_with((1, "step"), (2, "ended"))
    assert stage.places.taken == 0


def test_a_process_that_stops_lets_its_viewers_go(stage: TurnStage, client: FlaskClient) -> None:
    viewer = Viewer(client, path_of(stage.begin().id))
    wait_until(lambda: stage.places.taken == 1)
    stage.room.close()
    viewer.ends_with()
    assert stage.places.taken == 0


# --- Who may see it -------------------------------------------------------------------------------


@pytest.mark.fault(52)
def test_a_turn_of_somebody_else_and_one_that_is_not_there_answer_alike(stage: TurnStage) -> None:
    def own(turn: TurnRecord) -> bool:
        return turn.user_id == "customer-18"

    client = stage.app(Access(allowed=own)).test_client()
    foreign, missing = (
        problem_of(client.get(path_of(turn_id)), 404) for turn_id in (stage.begin(CUSTOMER).id, NOWHERE)
    )
    assert {**foreign, "turn_id": ""} == {**missing, "turn_id": ""}
    assert stage.places.taken == 0


@pytest.mark.fault(54)
def test_without_a_word_on_who_may_see_it_nobody_may(stage: TurnStage) -> None:
    client = stage.app(Access()).test_client()
    problem_of(client.get(path_of(stage.begin().id)), 404)


@pytest.mark.fault(54)
def test_no_other_origin_is_let_in(stage: TurnStage, client: FlaskClient) -> None:
    turn = stage.begin()
    stage.end(turn)
    answer = client.get(path_of(turn.id), headers={"Origin": "https://evil.example"})
    assert not [name for name in answer.headers.keys() if name.startswith("Access-Control")]  # noqa: SIM118 - werkzeug's headers iterate over pairs


def test_a_customer_is_not_shown_what_is_for_staff(stage: TurnStage) -> None:
    turn = stage.begin()
    stage.note(turn, "flag", text="CANARY")
    stage.note(turn, "step", text="CANARY")
    stage.note(turn, "tool_call", tool="get_order", arguments="CANARY")
    stage.end(turn)

    answer = stage.app(replace(OPEN, shows_all=lambda _: False)).test_client().get(path_of(turn.id))
    assert names(answer) == [(3, "tool_call"), (4, "ended")]
    assert "CANARY" not in answer.text


# --- How many -------------------------------------------------------------------------------------


@pytest.mark.fault(56)
def test_a_customers_sixth_stream_is_refused_until_one_is_closed(
    stage: TurnStage, client: FlaskClient
) -> None:
    turn = stage.begin()
    viewers = [Viewer(client, path_of(turn.id)) for _ in range(5)]

    refused = client.get(path_of(turn.id))
    assert problem_of(refused, 429)["type"] == "urn:refund-agent:problem:too-many-streams"
    assert int(refused.headers["Retry-After"]) > 0
    other = stage.begin("customer-18")
    stage.end(other)
    assert names(client.get(path_of(other.id))) == [(1, "ended")]

    stage.end(turn)
    for viewer in viewers:
        viewer.ends_with((1, "ended"))
    assert names(client.get(path_of(turn.id))) == [(1, "ended")]


@pytest.mark.fault(56)
def test_streams_leave_most_threads_to_the_chat(database_url: str, redis_url: str) -> None:
    stage = TurnStage(database_url, redis_url, web_threads=8)
    client = stage.app(OPEN).test_client()
    turns = [stage.begin(f"customer-{n}") for n in range(3)]
    viewers = [Viewer(client, path_of(turn.id)) for turn in turns[:2]]

    refused = client.get(path_of(turns[2].id))
    assert problem_of(refused, 503)["type"] == "urn:refund-agent:problem:streams-full"
    assert int(refused.headers["Retry-After"]) > 0
    for turn in turns:
        stage.end(turn)
    for viewer in viewers:
        viewer.ends_with((1, "ended"))
    stage.close()


def test_asking_for_the_headers_alone_keeps_no_place(stage: TurnStage, client: FlaskClient) -> None:
    answer = client.head(path_of(stage.begin().id))
    assert answer.status_code == 200
    answer.close()  # as the server does with every answer
    assert stage.places.taken == 0
