"""At most one refund per request, whatever the model does."""

from collections.abc import Callable

import pytest
import requests

from sandbox.model import Model, calls, calls_refund, refund_call, says
from sandbox.payments import Payments
from tests.functional.plays import tool_results
from tests.functional.stand import Row, Stand, turn_id

Chat = Callable[..., requests.Response]
Ledger = Callable[[str], Row | None]


@pytest.mark.contract("C2", "C30", "C31", "C32", "C37")
@pytest.mark.fault(141)
def test_a_second_call_in_the_same_message_is_refused(
    chat: Chat, model: Model, payments: Payments, ledger: Ledger
) -> None:
    model.will(calls(refund_call("A1", 500, id="first"), refund_call("A2", 700, id="second")), says("Done."))

    answer = chat("refund both")

    assert answer.json() == {"reply": "Done."}
    assert (payments.request_count, payments.moved) == (1, [("A1", 500)])
    (first, receipt), (second, refusal) = tool_results(model.requests[1])
    assert (first, receipt["amount_cents"]) == ("first", 500)
    assert (second, list(refusal)) == ("second", ["error"])
    assert found(ledger, answer)["order_id"] == "A1"


@pytest.mark.contract("C31", "C33", "C34")
@pytest.mark.fault(146, 270)
@pytest.mark.parametrize("again", [("A1", 500), ("A2", 700)], ids=["the same refund", "another refund"])
def test_a_call_in_a_later_round_is_refused(
    chat: Chat, model: Model, payments: Payments, ledger: Ledger, again: tuple[str, int]
) -> None:
    model.will(
        calls_refund("A1", 500, id="call"),
        calls_refund(*again, id="call"),
        calls_refund(*again, id="other"),
        says("Done."),
    )

    answer = chat("refund A1")

    assert answer.json() == {"reply": "Done."}
    assert (payments.request_count, payments.moved) == (1, [("A1", 500)])
    first, *later = [content for _, content in tool_results(model.requests[3])]
    assert first["refund_id"] == payments.refunds[0].refund_id
    assert [list(content) for content in later] == [["error"], ["error"]]
    assert found(ledger, answer)["state"] == "paid"


@pytest.mark.contract("C28", "C31", "C35", "C37")
@pytest.mark.fault(271)
@pytest.mark.parametrize(
    ("mode", "state", "moved"),
    [
        ("reject", "rejected", []),
        ("reset-before-work", "unknown", []),
        ("accept-then-drop", "unknown", [("A1", 500)]),
    ],
)
def test_a_failed_refund_counts_as_the_attempt(
    stand: Stand, mode: str, state: str, moved: list[tuple[str, int]]
) -> None:
    stand.payments.will(mode)
    again = calls_refund("A1", 500)
    stand.model.will(again, again, calls_refund("A2", 500), says("Sorry."))

    answer = stand.chat("refund A1")

    assert answer.json() == {"reply": "Sorry."}
    assert (stand.payments.request_count, stand.payments.moved) == (1, moved)
    assert [list(content) for _, content in tool_results(stand.model.requests[3])] == [["error"]] * 3
    assert found(stand.gate, answer)["state"] == state


@pytest.mark.contract("C36", "C39", "C40", "C41")
def test_the_attempt_is_recorded_before_the_request_is_sent(stand: Stand) -> None:
    stand.payments.delay_seconds = 0.7
    soon = stand.chat_soon("refund 5.00 for order A1")
    assert stand.payments.wait_for_requests(1)

    (turn,) = stand.turns()
    row, copy = stand.gate(turn["id"]), stand.mirror(turn["id"])

    assert turn["state"] == "running"
    assert turn["refund_attempted"] is True
    assert row is not None
    assert (row["state"], row["order_id"], row["amount_cents"]) == ("claimed", "A1", 500)
    assert (copy["state"], copy["refund_attempted"]) == ("claimed", "1")
    answer = soon.result()
    assert (answer.status_code, turn_id(answer)) == (200, turn["id"])
    assert found(stand.gate, answer)["state"] == "paid"


@pytest.mark.contract("C41")
@pytest.mark.parametrize(("mode", "state"), [("ok", "paid"), ("reject", "rejected"), ("500", "unknown")])
def test_the_attempt_is_mirrored_into_redis_for_audit(stand: Stand, mode: str, state: str) -> None:
    stand.payments.will(mode)

    answer = stand.chat("refund 5.00 for order A1")

    copy = stand.mirror(turn_id(answer))
    assert (copy["state"], copy["order_id"], copy["amount_cents"]) == (state, "A1", "500")
    assert copy["refund_attempted"] == "1"
    assert [event["state"] for event in stand.mirrored_events(turn_id(answer))] == ["claimed", state]


@pytest.mark.contract("C41")
def test_a_request_without_a_refund_leaves_no_trace_in_the_audit(stand: Stand) -> None:
    answer = stand.chat("hello")

    assert stand.mirror(turn_id(answer)) == {}
    assert stand.mirrored_events(turn_id(answer)) == []


@pytest.mark.contract("C82")
@pytest.mark.fault(203)
def test_an_unknown_outcome_is_told_honestly(stand: Stand) -> None:
    stand.payments.will("accept-then-drop")

    answer = stand.chat("refund 5.00 for order A1")

    ((_, told),) = tool_results(stand.model.requests[1])
    assert "outcome unknown" in told["error"]
    assert "Do not promise" in told["error"]
    assert "fail" not in told["error"].lower()
    assert "fail" not in answer.json()["reply"].lower()
    assert stand.payments.moved == [("A1", 500)]
    assert found(stand.gate, answer)["state"] == "unknown"


@pytest.mark.fault(251)
@pytest.mark.contract("C2")
def test_an_order_whose_refund_is_unknown_is_not_refunded_by_another_request(stand: Stand) -> None:
    stand.payments.will("accept-then-drop")
    stand.chat("refund 5.00 for order A1")

    again = stand.chat("refund 5.00 for order A1")

    assert again.status_code == 200
    assert stand.payments.moved == [("A1", 500)]
    assert stand.gate(turn_id(again)) is None


@pytest.mark.fault(253)
@pytest.mark.contract("C31")
def test_a_rejected_refund_may_be_asked_for_by_another_request(stand: Stand) -> None:
    stand.payments.will("reject")
    first = stand.chat("refund 5.00 for order A1")

    second = stand.chat("refund 5.00 for order A1")

    assert found(stand.gate, first)["state"] == "rejected"
    assert found(stand.gate, second)["state"] == "paid"
    assert stand.payments.moved == [("A1", 500)]


def found(ledger: Ledger, answer: requests.Response) -> Row:
    row = ledger(turn_id(answer))
    assert row is not None
    return row
