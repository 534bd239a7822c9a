"""What must wake somebody up, judged from the figures. Workers log it; `/metrics` shows the same numbers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from refund_agent.figures import Trouble

UNKNOWN_SECONDS: Final = 15 * 60.0
UNKNOWN_OVERLOOKED_SECONDS: Final = 24 * 3600.0
MIRROR_SECONDS: Final = 60.0
UNANSWERED_SHARE: Final = 0.5
LEAST_UNANSWERED: Final = 10
"""Fewer say nothing: three failures in a quiet night are no rate."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """One thing that is wrong, by how much, and what to do."""

    name: str
    value: float
    do: str


def alarms(trouble: Trouble) -> Iterator[Alarm]:
    """Yield what is wrong now."""
    if trouble.oldest_unknown_seconds > UNKNOWN_OVERLOOKED_SECONDS:
        yield Alarm("unknown_refund_overlooked", trouble.oldest_unknown_seconds, "flask refunds unknown")
    elif trouble.oldest_unknown_seconds > UNKNOWN_SECONDS:
        yield Alarm("unknown_refund_waits", trouble.oldest_unknown_seconds, "flask refunds unknown")
    if trouble.stuck_turns:
        yield Alarm("turns_stuck", trouble.stuck_turns, "flask turns stuck")
    if trouble.expired_leases:
        yield Alarm("leases_expired", trouble.expired_leases, "see that workers run")
    if trouble.oldest_unmirrored_seconds > MIRROR_SECONDS:
        yield Alarm("mirror_behind", trouble.oldest_unmirrored_seconds, "see that Redis runs")
    if is_unanswered_often(trouble):
        share = trouble.lately_unanswered / trouble.lately_ended
        yield Alarm("turns_unanswered", share, "see whether the model refuses or its provider fails")
    for rule, count in trouble.breaches.items():
        if count:
            yield Alarm(f"breach_{rule}", count, "stop the workers and compare the ledger with payments")


def is_unanswered_often(trouble: Trouble) -> bool:
    """Whether so many turns got no text lately that the model or its provider must be to blame."""
    often = trouble.lately_unanswered > UNANSWERED_SHARE * trouble.lately_ended
    return often and trouble.lately_unanswered >= LEAST_UNANSWERED
