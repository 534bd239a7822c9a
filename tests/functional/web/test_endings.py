"""How a turn's ending looks over HTTP, and what is said about the money."""

from typing import Any, get_args

import pytest

from refund_agent.facade import KeyUnreadable, NotStored, Unreadable
from refund_agent.outcomes import (
    Broken,
    BudgetExhausted,
    DeadlinePassed,
    GateState,
    NotAccepted,
    ProviderFailed,
    ProviderTimedOut,
    RefundRecord,
    Replied,
    TurnOutcome,
)
from refund_agent.turn import NewTurn, TurnRecord
from tests.functional.web.conftest import Web, ended, problem_of

STATUS: dict[type[TurnOutcome], int] = {
    BudgetExhausted: 502,
    ProviderFailed: 502,
    ProviderTimedOut: 504,
    DeadlinePassed: 504,
    Broken: 500,
}
FAILED = [
    BudgetExhausted(),
    ProviderFailed("http 500"),
    ProviderTimedOut(),
    DeadlinePassed(),
    Broken("KeyError"),
]
SHOWN = {
    "claimed": "unknown",
    "unknown": "unknown",
    "paid": "paid",
    "rejected": "rejected",
    "not_sent": "not_sent",
}
NONE_EVER = "No refund was sent for this request and none ever will be."


def row(state: Any) -> RefundRecord:
    return RefundRecord(
        "t", state, "ORD-1001", 4999, "1.0", refund_id="re-1", detail="CANARY", status="CANARY"
    )


def ends(web: Web, outcome: TurnOutcome, refund: RefundRecord | None = None) -> dict[str, Any]:
    """Let the turn end so, and return the problem."""
    web.facade.answer = ended(outcome, refund)
    return problem_of(web.ask(), STATUS[type(outcome)])


@pytest.mark.contract("C1", "C13")
@pytest.mark.parametrize(
    "text", ["Done: 49.99 for ORD-1001.", "é 😀 \u202e", "<img src=x onerror=alert(1)>", "\ud800"]
)
@pytest.mark.parametrize("refund", [None, row("paid"), row("unknown"), row("closed")])
def test_a_reply_is_200_with_the_text_and_nothing_else(
    web: Web, text: str, refund: RefundRecord | None
) -> None:
    web.facade.answer = ended(Replied(text), refund)
    answer = web.ask()

    assert answer.status_code == 200
    assert answer.content_type == "application/json"
    assert answer.json == {"reply": text}


@pytest.mark.contract("C14")
def test_an_empty_reply_is_a_reply(web: Web) -> None:
    web.facade.answer = ended(Replied(""))

    assert web.ask().json == {"reply": ""}


@pytest.mark.contract("C15")
def test_the_header_has_the_id_under_which_the_turn_was_stored(web: Web) -> None:
    answer = web.ask()

    assert answer.headers["X-Turn-Id"] == web.facade.asked[0].id


@pytest.mark.contract("C12", "C16")
@pytest.mark.parametrize("outcome", FAILED)
def test_a_turn_without_a_reply_is_a_problem_with_its_id(web: Web, outcome: TurnOutcome) -> None:
    web.facade.answer = ended(outcome)
    answer = web.ask()

    problem = problem_of(answer, STATUS[type(outcome)])
    assert problem["turn_id"] == answer.headers["X-Turn-Id"] == web.facade.asked[0].id
    assert problem["type"].startswith("urn:refund-agent:problem:")


@pytest.mark.parametrize("outcome", [Broken("CANARY"), ProviderFailed("CANARY")])
def test_a_problem_says_nothing_of_our_insides(web: Web, outcome: TurnOutcome) -> None:
    web.facade.answer = ended(outcome, row("rejected"))

    assert "CANARY" not in web.ask().text


@pytest.mark.contract("C76")
@pytest.mark.parametrize("outcome", FAILED)
@pytest.mark.parametrize("refund", [None, row("closed")])
def test_without_an_attempt_refund_is_null_and_none_ever_will_be(
    web: Web, outcome: TurnOutcome, refund: RefundRecord | None
) -> None:
    problem = ends(web, outcome, refund)

    assert problem["refund"] is None
    assert NONE_EVER in problem["detail"]


@pytest.mark.contract("C71", "C75")
@pytest.mark.parametrize("outcome", FAILED)
@pytest.mark.parametrize("state", sorted(SHOWN))
def test_an_attempted_refund_is_told_with_its_state(web: Web, outcome: TurnOutcome, state: str) -> None:
    problem = ends(web, outcome, row(state))

    receipt = {"refund_id": "re-1"} if state == "paid" else {}
    asked = {"order_id": "ORD-1001", "amount_cents": 4999}
    assert problem["refund"] == {"state": SHOWN[state], **asked, **receipt}
    assert NONE_EVER not in problem["detail"]


@pytest.mark.parametrize("state", ["paid", "unknown", "claimed"])
def test_a_refund_that_may_have_moved_money_says_not_to_repeat_the_request(web: Web, state: str) -> None:
    assert "Do not send the request again" in ends(web, DeadlinePassed(), row(state))["detail"]


def test_every_state_of_the_gate_is_shown_or_is_no_attempt() -> None:
    assert set(get_args(GateState)) == {*SHOWN, "closed"}


@pytest.mark.contract("C72")
def test_a_turn_that_was_not_stored_is_503_with_retry_after(web: Web) -> None:
    web.facade.answer = lambda _: NotStored()
    answer = web.ask()

    problem = problem_of(answer, 503)
    assert problem["refund"] is None
    assert NONE_EVER in problem["detail"]
    assert int(answer.headers["Retry-After"]) > 0


@pytest.mark.contract("C72")
def test_a_retry_that_finds_no_database_is_503_and_promises_nothing_about_money(web: Web) -> None:
    web.facade.answer = lambda _: KeyUnreadable()
    answer = web.ask()

    problem = problem_of(answer, 503)
    assert problem["refund"] == {"state": "unknown"}
    assert NONE_EVER not in problem["detail"]
    assert "with the same key again" in problem["detail"]
    assert int(answer.headers["Retry-After"]) > 0


@pytest.mark.contract("C72")
@pytest.mark.parametrize("refund", [None, row("closed")])
def test_a_turn_that_was_not_queued_is_503_with_retry_after(web: Web, refund: RefundRecord | None) -> None:
    web.facade.answer = ended(NotAccepted(), refund)
    answer = web.ask()

    problem = problem_of(answer, 503)
    assert problem["refund"] is None
    assert NONE_EVER in problem["detail"]
    assert int(answer.headers["Retry-After"]) > 0


@pytest.mark.contract("C75")
@pytest.mark.parametrize("state", sorted(SHOWN))
def test_a_queue_that_failed_after_the_refund_was_claimed_never_invites_a_repeat(
    web: Web, state: str
) -> None:
    web.facade.answer = ended(NotAccepted(), row(state))
    answer = web.ask()

    assert problem_of(answer, 504)["refund"]["state"] == SHOWN[state]
    assert "Retry-After" not in answer.headers


@pytest.mark.contract("C71", "C75")
def test_an_outcome_that_cannot_be_read_is_504_and_unknown(web: Web) -> None:
    web.facade.answer = lambda new: Unreadable(new.id)
    answer = web.ask()

    problem = problem_of(answer, 504)
    assert problem["refund"] == {"state": "unknown"}
    assert "Do not send the request again" in problem["detail"]
    assert "Retry-After" not in answer.headers


def test_a_joined_turn_that_cannot_be_read_is_named(web: Web) -> None:
    web.facade.answer = lambda _: Unreadable("the-first-turn")
    answer = web.ask()

    assert problem_of(answer, 504)["turn_id"] == answer.headers["X-Turn-Id"] == "the-first-turn"


def breaks(_: NewTurn) -> TurnRecord:
    raise RuntimeError("CANARY")


def not_ended(new: NewTurn) -> TurnRecord:
    return TurnRecord(new.id, "running", 0, 0)


@pytest.mark.fault(69)
@pytest.mark.parametrize("answer", [breaks, not_ended])
def test_a_bug_after_the_turn_was_handed_over_is_500_and_unknown(web: Web, answer: Any) -> None:
    web.facade.answer = answer
    response = web.ask()

    problem = problem_of(response, 500)
    assert problem["refund"] == {"state": "unknown"}
    assert problem["turn_id"] == response.headers["X-Turn-Id"]
    assert "CANARY" not in response.text
