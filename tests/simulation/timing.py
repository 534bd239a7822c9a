"""The times of one episode: the contract's, with a deadline that is long, short or Heroku's."""

from dataclasses import dataclass

from refund_agent.settings import Settings


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds, as production derives them from its settings."""

    deadline_seconds: float
    lease_seconds: float
    completion_timeout_seconds: float
    backoff_seconds: float
    payments_timeout_seconds: float
    settle_seconds: float


def timing(deadline_seconds: float) -> Timing:
    """Derive the times from a deadline."""
    settings = Settings(turn_deadline_seconds=deadline_seconds)
    return Timing(
        deadline_seconds=deadline_seconds,
        lease_seconds=settings.lease_seconds,
        completion_timeout_seconds=settings.completion_timeout_seconds,
        backoff_seconds=settings.backoff_seconds,
        payments_timeout_seconds=settings.payments_timeout_seconds,
        settle_seconds=settings.payments_timeout_seconds + 15.0,
    )
