"""What must wake somebody up."""

import pytest

from refund_agent.alarms import alarms
from refund_agent.figures import Trouble


def names(trouble: Trouble) -> list[str]:
    return [alarm.name for alarm in alarms(trouble)]


def test_nothing_wrong_wakes_nobody() -> None:
    assert names(Trouble(breaches={"flag_without_its_refund": 0})) == []


@pytest.mark.fault(294)
@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (900.0, []),
        (901.0, ["unknown_refund_waits"]),
        (86_400.0, ["unknown_refund_waits"]),
        (86_401.0, ["unknown_refund_overlooked"]),
    ],
)
def test_an_unknown_refund_is_told_after_a_quarter_of_an_hour_and_again_after_a_day(
    seconds: float, expected: list[str]
) -> None:
    assert names(Trouble(oldest_unknown_seconds=seconds)) == expected


@pytest.mark.fault(281)
@pytest.mark.parametrize(
    ("ended", "unanswered", "expected"),
    [(19, 10, ["turns_unanswered"]), (20, 10, []), (9, 9, []), (10, 10, ["turns_unanswered"]), (0, 0, [])],
)
def test_a_model_that_leaves_most_customers_without_an_answer_is_told(
    ended: int, unanswered: int, expected: list[str]
) -> None:
    assert names(Trouble(lately_ended=ended, lately_unanswered=unanswered)) == expected


def test_every_other_trouble_has_its_alarm() -> None:
    trouble = Trouble(
        stuck_turns=1,
        expired_leases=1,
        oldest_unmirrored_seconds=61.0,
        breaches={"refund_without_its_flag": 1},
    )
    assert names(trouble) == [
        "turns_stuck",
        "leases_expired",
        "mirror_behind",
        "breach_refund_without_its_flag",
    ]
