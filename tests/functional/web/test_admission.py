"""What a caller is told at a limit."""

import pytest
from flask import Flask

from refund_agent.limits import (
    Admission,
    Admitted,
    Asking,
    ConversationFull,
    LimiterAway,
    NoRoom,
    TooFast,
    TooManyTokens,
)
from tests.functional.web.conftest import problem_of
from web import admission, ids, problems


class FakeLimiter:
    """Gives one answer to everybody."""

    def __init__(self, answer: Admission) -> None:
        self.answer = answer
        self.asked: list[Asking] = []

    def admit(self, asking: Asking) -> Admission:
        self.asked.append(asking)
        return self.answer

    def spend(self, customer_id: str, tokens: int) -> None: ...


def door(limiter: FakeLimiter) -> Flask:
    app = Flask("door")
    ids.install(app)
    problems.install(app)

    @app.get("/chat")
    def chat() -> str:
        admission.require_admission(limiter, Asking("alice", 3, 400))
        return "in"

    return app


def test_who_is_admitted_goes_in() -> None:
    limiter = FakeLimiter(Admitted())

    assert door(limiter).test_client().get("/chat").text == "in"
    assert limiter.asked == [Asking("alice", 3, 400)]


@pytest.mark.parametrize(
    ("answer", "status", "kind", "retry_after"),
    [
        pytest.param(TooFast(17), 429, "too-fast", "17", marks=pytest.mark.fault(39)),
        (TooManyTokens(3600), 429, "tokens-used-up", "3600"),
        (ConversationFull("turns"), 429, "conversation-full", "1"),
        (ConversationFull("tokens"), 429, "conversation-full", "1"),
        pytest.param(NoRoom("full", 7), 503, "no-room", "7", marks=pytest.mark.fault(41)),
        pytest.param(NoRoom("no worker", 4), 503, "no-room", "4", marks=pytest.mark.fault(41)),
        pytest.param(LimiterAway("ConnectionError"), 503, "limiter-away", "5", marks=pytest.mark.fault(40)),
    ],
)
def test_each_limit_has_its_status_and_says_when_to_come_back(
    answer: Admission, status: int, kind: str, retry_after: str
) -> None:
    given = door(FakeLimiter(answer)).test_client().get("/chat")

    problem = problem_of(given, status)
    assert problem["type"] == f"urn:refund-agent:problem:{kind}"
    assert problem["refund"] is None
    assert given.headers["Retry-After"] == retry_after
    assert "Nothing was stored or sent, and no refund was made." in problem["detail"]
    assert "ConnectionError" not in given.text
