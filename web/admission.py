"""What a caller is told at a limit. The only place that chooses a status for one."""

from typing import Final, assert_never

from refund_agent.limits import (
    Admission,
    Admitted,
    ConversationFull,
    LimiterAway,
    NoRoom,
    TooFast,
    TooManyTokens,
)
from web.kinds import Kind
from web.problems import RETRY_AFTER, Problem

NOTHING: Final = "Nothing was stored or sent, and no refund was made."


def problem_of(admission: Admission) -> Problem | None:
    """Say what stands in the way of a turn; None when nothing does."""
    match admission:
        case Admitted():
            return None
        case TooFast(seconds):
            return _later(Kind.TOO_FAST, "Too many messages in a short time.", seconds)
        case TooManyTokens(seconds):
            return _later(Kind.TOKENS_USED_UP, "What one customer may use in a day is used up.", seconds)
        case ConversationFull(used_up):
            what = f"This conversation has used up its {used_up}. A new one can be started at once."
            return _later(Kind.CONVERSATION_FULL, what, 1)
        case NoRoom("no worker", seconds):
            return _later(Kind.NO_ROOM, "No worker is running now.", seconds)
        case NoRoom(_, seconds):
            return _later(Kind.NO_ROOM, "As many turns are waiting as can be served.", seconds)
        case LimiterAway():
            detail = f"The limits cannot be checked now, so no message is taken. {NOTHING}"
            return Problem(Kind.LIMITER_AWAY, detail, headers=RETRY_AFTER)
        case _:
            assert_never(admission)


def _later(kind: Kind, what: str, seconds: int) -> Problem:
    return Problem(kind, f"{what} {NOTHING}", headers={"Retry-After": str(seconds)})
