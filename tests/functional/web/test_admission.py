"""What a customer is told at a limit, and that nothing gets past the door of the support agent's chat."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

import pytest
import redis
from sqlalchemy import func, select
from structlog.testing import capture_logs
from werkzeug.test import TestResponse

from refund_agent.adapters.redis_client import connect
from refund_agent.adapters.redis_limits import RedisLimits
from refund_agent.adapters.sql_support_tables import conversations
from refund_agent.adapters.sql_tables import turns
from refund_agent.adapters.sql_usage import SqlUsage
from refund_agent.limits import (
    Admission,
    Admitted,
    ConversationFull,
    LimiterAway,
    Limits,
    NoRoom,
    TooFast,
    TooManyTokens,
)
from refund_agent.ports import Completed, CompletionAnswer, ToolDeclaration
from refund_agent.turn import Message, NewTurn, ToolResult
from tests.fakes import FakeModel, calls_refund, says
from tests.functional.web.conftest import problem_of
from tests.functional.web.people import bearer
from tests.functional.web.support_room import CHAT, SupportRoom, body_of
from web import admission

POSTS = 48
AT_ONCE = 16
RATE = 5
WAIT_SECONDS = 20.0
AT_A_LIMIT = [
    pytest.param(TooFast(17), 429, "too-fast", "17", marks=pytest.mark.fault(39)),
    (TooManyTokens(3600), 429, "tokens-used-up", "3600"),
    (ConversationFull("turns"), 429, "conversation-full", "1"),
    (ConversationFull("tokens"), 429, "conversation-full", "1"),
    pytest.param(NoRoom("full", 7), 503, "no-room", "7", marks=pytest.mark.fault(41)),
    pytest.param(NoRoom("no worker", 4), 503, "no-room", "4", marks=pytest.mark.fault(41)),
    pytest.param(LimiterAway("ConnectionError"), 503, "limiter-away", "5", marks=pytest.mark.fault(40)),
]


# --- What is told ---------------------------------------------------------------------------------


def test_nothing_stands_in_the_way_of_who_is_admitted() -> None:
    assert admission.problem_of(Admitted()) is None


@pytest.mark.parametrize(("answer", "status", "kind", "retry_after"), AT_A_LIMIT)
def test_each_limit_has_its_status_and_says_when_to_come_back(
    answer: Admission, status: int, kind: str, retry_after: str
) -> None:
    problem = admission.problem_of(answer)

    assert problem is not None
    assert (problem.kind.status, problem.kind.type) == (status, f"urn:refund-agent:problem:{kind}")
    assert problem.headers["Retry-After"] == retry_after
    assert problem.refund is None
    assert "Nothing was stored or sent, and no refund was made." in problem.detail


@pytest.mark.parametrize(("answer", "status", "kind", "retry_after"), AT_A_LIMIT)
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_at_a_limit_nothing_is_stored_and_the_wait_is_told(
    room: SupportRoom, *, answer: Admission, status: int, kind: str, retry_after: str, accept: str
) -> None:
    room.stage.limiter.answer = answer

    given = room.chat("Refund A1", headers={"Accept": accept})

    assert problem_of(given, status)["type"] == f"urn:refund-agent:problem:{kind}"
    assert given.headers["Retry-After"] == retry_after
    assert "ConnectionError" not in given.text
    assert stored(room) == (0, 0)
    assert room.queue.queued == []


# --- With the real limiter ------------------------------------------------------------------------


@pytest.fixture
def client(redis_url: str) -> Iterator[redis.Redis]:
    opened = connect(redis_url, connections=AT_ONCE)
    yield opened
    opened.close()


def guard(room: SupportRoom, client: redis.Redis, limits: Limits) -> None:
    """Let the limiter of production stand at the room's door; one worker of three seats is alive."""
    usage = SqlUsage(room.stage.database)
    room.stage.limiter.real = RedisLimits(client, limits=limits, usage=usage, workers=lambda: ["w1"], seats=3)


@pytest.mark.fault(40)
def test_without_the_counters_no_message_is_taken_and_it_is_logged(room: SupportRoom) -> None:
    nowhere = connect("redis://127.0.0.1:1/0", connections=1)
    guard(room, nowhere, Limits())

    with capture_logs() as logs:
        given = room.chat("Refund A1")

    assert problem_of(given, 503)["type"] == "urn:refund-agent:problem:limiter-away"
    assert [entry["log_level"] for entry in logs if entry["event"] == "limiter_away"] == ["error"]
    assert stored(room) == (0, 0)
    nowhere.close()


@pytest.mark.fault(41, 124, 244)
def test_open_turns_of_every_agent_fill_the_room_and_only_support_chat_is_refused(
    room: SupportRoom, client: redis.Redis
) -> None:
    """Twice as many as one worker runs: three wait for refund chat, and three of support chat still fit."""
    guard(room, client, Limits())
    room.queue.held = True
    for number in range(3):
        room.stage.turns.create(NewTurn(f"refund-chat-{number}", "customer-17", "Refund, please."))
    for number in range(3):
        room.stage.store("Hello", conversation_id=room.stage.open(f"c{number}"), customer_id=f"c{number}")
    before = stored(room)

    refused = room.chat("Refund A1")
    taken = room.client.post(
        "/support/refund-chat",
        json={"user_id": "customer-17", "message": "Refund, please."},
        headers={"Prefer": "respond-async"},
    )

    assert problem_of(refused, 503)["type"] == "urn:refund-agent:problem:no-room"
    assert 3 <= int(refused.headers["Retry-After"]) <= 10
    assert taken.status_code == 202
    assert stored(room) == (before[0] + 1, before[1])
    assert room.queue.queued == [taken.headers["X-Turn-Id"]]


# --- A customer who presses -----------------------------------------------------------------------


@pytest.mark.fault(31, 39, 42)
def test_of_racing_posts_in_one_conversation_one_runs_and_the_rest_are_409_or_429(
    room: SupportRoom, client: redis.Redis
) -> None:
    guard(room, client, Limits(customer_rate=f"{RATE}/minute"))
    all_others_answered = threading.Event()

    def refund_at_last() -> Completed:
        assert all_others_answered.wait(WAIT_SECONDS)
        return calls_refund("A1", 500)

    room.stage.model = FakeModel(refund_at_last, says("Done."))
    message = {"message": "Refund 5.00 of A1", "conversation_id": room.stage.open("alice")}

    answers = racing(room, message, before_the_last=all_others_answered.set)

    told = Counter(answer.status_code for answer in answers)
    assert told == {200: 1, 409: RATE - 1, 429: POSTS - RATE}
    assert stored(room) == (1, 1)
    assert room.stage.payments.requests == [("A1", 500)]
    assert all(
        problem_of(answer, answer.status_code)["refund"] is None for answer in answers if not is_ok(answer)
    )


@pytest.mark.fault(39, 42)
def test_of_racing_posts_without_a_conversation_no_more_run_than_the_rate_and_one_refund_is_sent(
    room: SupportRoom, client: redis.Redis
) -> None:
    """Each begins a conversation of its own, so none is busy; the order takes one refund."""
    guard(room, client, Limits(customer_rate=f"{RATE}/minute"))
    room.stage.model = GivesIn()

    answers = racing(room, {"message": "Refund 5.00 of A1"})

    assert Counter(answer.status_code for answer in answers) == {200: RATE, 429: POSTS - RATE}
    assert stored(room) == (RATE, RATE)
    assert room.stage.payments.requests == [("A1", 500)]
    refunds = [body_of(answer)["refund"] for answer in answers if is_ok(answer)]
    assert [refund["state"] for refund in refunds if refund] == ["paid"]


class GivesIn(FakeModel):
    """Calls for the same refund in every turn, however many run at once."""

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolDeclaration],
        *,
        request_id: str,
        timeout_seconds: float,
    ) -> CompletionAnswer:
        return says("Done.") if isinstance(messages[-1], ToolResult) else calls_refund("A1", 500)


def racing(
    room: SupportRoom, message: dict[str, str], *, before_the_last: Callable[[], object] = lambda: None
) -> list[TestResponse]:
    """Post as Alice from many threads, and look when all answers but one are there."""

    def post() -> TestResponse:
        return room.client.application.test_client().post(CHAT, json=message, headers=bearer("is-alice"))

    answers: list[TestResponse] = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for answered in as_completed([pool.submit(post) for _ in range(POSTS)]):
            answers.append(answered.result())
            if len(answers) == POSTS - 1:
                before_the_last()
    return answers


def is_ok(answer: TestResponse) -> bool:
    return answer.status_code == 200


def stored(room: SupportRoom) -> tuple[int, int]:
    """How many turns and conversations there are."""
    with room.stage.database.transaction() as tx:
        return tuple(
            tx.execute(select(func.count()).select_from(t)).scalar_one() for t in (turns, conversations)
        )  # type: ignore[return-value]  # two of them
