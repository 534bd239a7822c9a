"""SIGTERM to every process at once: what can finish does, the rest goes on elsewhere, all are answered."""

import pytest

from tests.chaos.conftest import Strike


@pytest.mark.fault(89)
def test_a_turn_that_can_finish_while_its_worker_stops_does(strike: Strike) -> None:
    evidence = strike("moved", "worker SIGTERM")

    (turn,) = evidence.turns
    assert str(evidence.first) == "200 paid"
    assert (evidence.posts, evidence.movements) == (1, 1)
    assert turn["epoch"] == 1, "it had one owner"
    assert evidence.exit_codes == (0,)


@pytest.mark.fault(89)
def test_a_turn_that_cannot_finish_while_its_worker_stops_is_handed_over_and_finishes_elsewhere(
    strike: Strike,
) -> None:
    evidence = strike("completion 1", "worker SIGTERM, turn cannot finish")

    (turn,) = evidence.turns
    assert str(evidence.first) == "200 paid"
    assert (evidence.posts, evidence.movements) == (1, 1)
    assert turn["epoch"] == 3, "it was handed over once"
    assert turn["completions_used"] == 3
    assert evidence.exit_codes == (0,)


@pytest.mark.fault(90)
def test_a_worker_stopped_by_sigquit_loses_its_turn_to_another_and_nothing_else(strike: Strike) -> None:
    """Its completion is never answered, so only another worker can have got on with the turn."""
    evidence = strike("completion 1", "worker SIGQUIT, turn cannot finish")

    (turn,) = evidence.turns
    assert str(evidence.first) == "200 paid"
    assert (evidence.posts, evidence.movements) == (1, 1)
    assert turn["epoch"] == 3, "begun, queued again, begun again"
    assert evidence.made[turn["id"]] == turn["completions_used"] == 3


def test_a_web_that_stops_answers_the_request_that_waits_with_its_reply(strike: Strike) -> None:
    evidence = strike("completion 1", "web SIGTERM")

    assert str(evidence.first) == "200 paid"
    assert evidence.exit_codes == (0,)


@pytest.mark.contract("C76")
def test_a_web_that_must_stop_ends_an_unfinished_turn_and_no_refund_follows(strike: Strike) -> None:
    evidence = strike("completion 1", "web SIGTERM, turn cannot finish")

    (turn,) = evidence.turns
    assert str(evidence.first) == "504 nothing"
    assert evidence.first.replayed is False
    assert evidence.gates[turn["id"]] == "closed"
    assert (evidence.posts, evidence.movements) == (0, 0), "the worker heard of it at its next step"
    assert evidence.exit_codes == (0,)


@pytest.mark.contract("C75")
def test_a_web_that_must_stop_in_the_middle_of_a_refund_says_that_its_outcome_is_unknown(
    strike: Strike,
) -> None:
    evidence = strike("moved", "web SIGTERM, turn cannot finish")

    assert str(evidence.first) == "504 unknown"
    assert (evidence.posts, evidence.movements) == (1, 1)
    assert evidence.exit_codes == (0,)
