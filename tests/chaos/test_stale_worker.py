"""A worker that slept past its lease wakes up to find that the turn is no longer its own."""

import pytest

from tests.chaos.conftest import Strike
from tests.chaos.lane import Lane


@pytest.mark.contract("C46")
def test_a_stale_owner_that_wakes_up_stops_and_the_money_moves_once(strike: Strike) -> None:
    """Both workers have the completion that asks for the refund; only the new owner may act on it."""
    evidence = strike("completion 1", "worker SIGSTOP past its lease")

    (turn,) = evidence.turns
    assert str(evidence.first) == "200 paid"
    assert (evidence.posts, evidence.movements) == (1, 1)
    assert turn["epoch"] == 3


@pytest.mark.fault(246)
@pytest.mark.contract("C46")
def test_a_receipt_that_a_stale_owner_brings_late_is_kept_as_evidence_and_flips_nothing(
    strike: Strike, lane: Lane
) -> None:
    evidence = strike("moved", "worker SIGSTOP past its lease")

    (turn,) = evidence.turns
    assert str(evidence.first) == "200 unknown"
    assert (evidence.posts, evidence.movements) == (1, 1)
    row = lane.wait_for_late_answer(turn["id"])
    assert (row["state"], row["review"]) == ("unknown", True)
    assert '"Paid"' in row["late_answer"]
