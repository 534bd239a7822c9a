"""What a turn looks like to whoever may see it: where it stands, its reply, its refund."""

from typing import Final

from refund_agent.outcomes import Replied
from refund_agent.turn import MAX_ATTEMPTS, MAX_COMPLETIONS, TurnRecord
from web.render import problem_of, refund_view

STATES: Final = {"stored": "queued", "queued": "queued", "running": "running"}


def view(turn: TurnRecord) -> dict[str, object]:
    """Show a turn; `problem` is what a waiting caller was answered when there is no reply."""
    reply = turn.outcome.text if isinstance(turn.outcome, Replied) else None
    problem = None if turn.outcome is None or reply is not None else problem_of(turn)
    ended = "failed" if problem else "done"
    return {
        "turn_id": turn.id,
        "state": STATES.get(turn.state, ended),
        "completions": {"used": turn.completions_used, "limit": MAX_COMPLETIONS},
        "attempts": {"used": turn.attempts, "limit": MAX_ATTEMPTS},
        "reply": reply,
        "problem": None if problem is None else problem.document(),
        "refund": refund_view(turn.refund),
    }
