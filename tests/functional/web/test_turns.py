"""`GET /support/turns/{id}`: where a turn stands."""

from typing import Any

import pytest

from refund_agent.facade import Unreadable
from refund_agent.outcomes import BudgetExhausted, RefundRecord, Replied, TurnOutcome
from refund_agent.turn import TurnRecord, TurnState
from tests.functional.web.conftest import Web, problem_of

TURN = "8e03978e-40d5-43dd-bc93-6894a57f9324"


def show(
    web: Web, state: TurnState, outcome: TurnOutcome | None = None, refund: RefundRecord | None = None
) -> dict[str, Any]:
    web.facade.found[TURN] = TurnRecord(
        TURN, state, 0, 0, completions_used=2, attempts=1, outcome=outcome, refund=refund
    )
    answer = web.client.get(f"/support/turns/{TURN}")
    assert answer.status_code == 200
    assert answer.headers["X-Turn-Id"] == TURN
    body: dict[str, Any] = answer.get_json()
    return body


@pytest.mark.fault(52)
def test_an_unknown_id_is_404(web: Web) -> None:
    problem = problem_of(web.client.get(f"/support/turns/{TURN}"), 404)
    assert problem["type"] == "urn:refund-agent:problem:no-such-turn"


@pytest.mark.parametrize(
    "path",
    ["t", TURN[:-1], TURN + "0", f"{{{TURN}}}", "a%0d%0ab", "%00", "%E2%80%A8", "%ED%A0%80", "x" * 5000],
)
def test_what_is_no_turns_id_is_404_and_asks_nothing(web: Web, path: str) -> None:
    answer = web.client.get(f"/support/turns/{path}")
    problem_of(answer, 404)
    assert answer.headers["X-Turn-Id"] not in path


@pytest.mark.parametrize(
    ("stored", "shown"), [("stored", "queued"), ("queued", "queued"), ("running", "running")]
)
def test_a_turn_on_its_way_shows_its_state_and_counts(web: Web, stored: TurnState, shown: str) -> None:
    assert show(web, stored) == {
        "turn_id": TURN,
        "state": shown,
        "completions": {"used": 2, "limit": 5},
        "attempts": {"used": 1, "limit": 2},
        "reply": None,
        "problem": None,
        "refund": None,
    }


def test_a_done_turn_shows_its_reply_and_its_refund(web: Web) -> None:
    paid = RefundRecord(TURN, "paid", "A1", 500, "1.0", "rf-1")
    body = show(web, "ended", Replied("done"), paid)
    assert (body["state"], body["reply"], body["problem"]) == ("done", "done", None)
    assert body["refund"] == {"state": "paid", "order_id": "A1", "amount_cents": 500, "refund_id": "rf-1"}


def test_an_empty_reply_is_done_and_not_failed(web: Web) -> None:
    assert show(web, "ended", Replied(""))["state"] == "done"


def test_a_failed_turn_shows_the_problem_that_its_caller_was_told(web: Web) -> None:
    body = show(web, "ended", BudgetExhausted(), RefundRecord(TURN, "unknown", "A1", 500))
    assert (body["state"], body["problem"]["status"]) == ("failed", 502)
    assert body["refund"]["state"] == "unknown"


def test_a_database_that_cannot_be_asked_is_503_with_retry_after(web: Web) -> None:
    web.facade.found[TURN] = Unreadable(TURN)
    answer = web.client.get(f"/support/turns/{TURN}")
    assert (answer.status_code, "Retry-After" in answer.headers) == (503, True)


def test_it_needs_the_portals_token(web: Web) -> None:
    web.set(portal_tokens=("secret",))
    assert web.client.get(f"/support/turns/{TURN}").status_code == 401
