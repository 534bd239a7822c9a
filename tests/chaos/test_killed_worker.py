"""A turn survives its worker: SIGKILL at any step, and the customer who waits is answered by another."""

import pytest

from tests.chaos.conftest import Strike
from tests.chaos.judge import Evidence
from tests.chaos.lane import Lane

fault = pytest.mark.fault
contract = pytest.mark.contract


def only_turn(evidence: Evidence) -> tuple[str, str]:
    """Return the outcome of the cell's one turn, and its ledger row's state."""
    (turn,) = evidence.turns
    return turn["outcome"], evidence.gates[turn["id"]]


def completions(evidence: Evidence) -> tuple[int, int]:
    """Return how many completions were made, and how many were counted."""
    (turn,) = evidence.turns
    return evidence.made[turn["id"]], turn["completions_used"]


@fault(80, 81)
def test_a_message_that_died_with_its_worker_is_sent_again(strike: Strike) -> None:
    evidence = strike("delivered", "worker SIGKILL")

    assert str(evidence.first) == "200 paid"
    assert (evidence.posts, evidence.movements) == (1, 1)
    assert completions(evidence) == (2, 2)


@fault(82, 88, 91)
@contract("C45", "C46")
def test_a_worker_killed_in_its_first_completion_is_replaced_and_the_customer_gets_the_reply(
    strike: Strike,
) -> None:
    evidence = strike("completion 1", "worker SIGKILL")

    assert str(evidence.first) == "200 paid"
    assert evidence.movements == 1
    assert completions(evidence) == (3, 3), "the lost completion is counted, and was taken up again once"
    assert evidence.turns[0]["epoch"] == 3, "the turn had two owners, no more"


@fault(83)
@contract("C45", "C46")
def test_a_worker_killed_between_its_claim_and_its_request_leaves_the_refund_unknown_though_unsent(
    strike: Strike,
) -> None:
    evidence = strike("claimed", "worker SIGKILL")

    assert only_turn(evidence) == ("replied", "unknown")
    assert str(evidence.first) == "200 unknown"
    assert (evidence.posts, evidence.movements) == (0, 0)


@fault(84)
@contract("C45", "C46", "C82")
def test_a_worker_killed_with_its_refund_in_flight_leaves_it_unknown_and_nobody_sends_it_again(
    strike: Strike,
) -> None:
    evidence = strike("asked", "worker SIGKILL")

    assert only_turn(evidence) == ("replied", "unknown")
    assert str(evidence.first) == "200 unknown"
    assert (evidence.posts, evidence.movements) == (1, 1), "payments moved it, as it does when nobody listens"


@fault(85)
@contract("C45", "C46")
def test_a_worker_killed_between_the_receipt_and_its_commit_leaves_the_refund_unknown(
    strike: Strike, lane: Lane
) -> None:
    evidence = strike("settle lost" if lane.way_to_database else "settling", "worker SIGKILL")

    assert only_turn(evidence) == ("replied", "unknown")
    assert str(evidence.first) == "200 unknown"
    assert (evidence.posts, evidence.movements) == (1, 1)


@fault(86)
@contract("C45", "C46")
def test_a_worker_killed_after_the_receipt_was_committed_is_replaced_and_the_reply_names_the_receipt(
    strike: Strike,
) -> None:
    evidence = strike("settled", "worker SIGKILL")

    assert only_turn(evidence) == ("replied", "paid")
    assert str(evidence.first) == "200 paid"
    assert (evidence.posts, evidence.movements) == (1, 1)
    assert completions(evidence) == (2, 2), "the tool's result was rebuilt from the ledger, not asked for"


@fault(87)
@contract("C45", "C46")
def test_a_worker_killed_with_the_reply_in_its_hands_is_replaced_and_nothing_is_refunded_again(
    strike: Strike, lane: Lane
) -> None:
    evidence = strike("reply lost" if lane.way_to_database else "replying", "worker SIGKILL")

    assert str(evidence.first) == "200 paid"
    assert (evidence.posts, evidence.movements) == (1, 1)
    assert completions(evidence) == (3, 3)
