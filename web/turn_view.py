"""What a turn looks like to whoever may see it: where it stands, its reply, its refund."""

from typing import Final

from refund_agent.languages import Language
from refund_agent.notices import reply_in, without_status_line
from refund_agent.outcomes import Replied
from refund_agent.turn import MAX_ATTEMPTS, MAX_COMPLETIONS, TurnRecord
from web.render import problem_of, refund_view

STATES: Final = {"stored": "queued", "queued": "queued", "running": "running"}


def view(turn: TurnRecord, language: Language | None) -> dict[str, object]:
    """Show a turn; `problem` is what a waiting caller was answered when there is no reply.

    Without a language it is shown as refund-chat's contract has it.
    """
    reply = turn.outcome.text if isinstance(turn.outcome, Replied) else None
    problem = None if turn.outcome is None or reply is not None else problem_of(turn)
    ended = "failed" if problem else "done"
    shown: dict[str, object] = {
        "turn_id": turn.id,
        "state": STATES.get(turn.state, ended),
        "completions": {"used": turn.completions_used, "limit": MAX_COMPLETIONS},
        "attempts": {"used": turn.attempts, "limit": MAX_ATTEMPTS},
        "reply": reply,
        "problem": None if problem is None else problem.document(),
        "refund": refund_view(turn.refund),
    }
    return shown if language is None else {**shown, **replied(turn, language)}


def replied(turn: TurnRecord, language: Language) -> dict[str, str | None]:
    """Show what a turn replied: all of it, and `words`, its text for whoever shows the refund as well."""
    if not isinstance(turn.outcome, Replied):
        return {"reply": None, "words": None}
    text, has_refund = turn.outcome.text, refund_view(turn.refund) is not None
    words = reply_in(language, without_status_line(text)) if has_refund else None
    return {"reply": reply_in(language, text), "words": words}
