"""What a turn's ending looks like over HTTP. The only place that chooses a status for an outcome."""

from collections.abc import Mapping
from typing import Final, assert_never

from flask import Response, jsonify

from refund_agent.facade import AskAnswer, KeyUnreadable, NotStored, Replayed, StillRunning, Unreadable
from refund_agent.outcomes import (
    Broken,
    BudgetExhausted,
    ConversationBusy,
    DeadlinePassed,
    KeyReused,
    NotAccepted,
    ProviderFailed,
    ProviderTimedOut,
    RefundRecord,
    Replied,
)
from refund_agent.turn import TurnRecord
from web.ids import adopt_turn_id
from web.kinds import Kind
from web.problems import RETRY_AFTER, UNKNOWN_REFUND, Problem, respond

NO_REFUND: Final = "No refund was sent for this request and none ever will be."
KEY_UNREADABLE: Final = Problem(
    Kind.KEY_UNREADABLE,
    "The database cannot be asked. This request was not taken and never will be; whether an earlier one with "
    "its key was, and sent a refund, is not known. Send the same request with the same key again: it cannot "
    "refund twice.",
    refund=UNKNOWN_REFUND,
    headers=RETRY_AFTER,
)
"""To a request with an idempotency key that finds no database: it may be a retry of one that was paid."""


def render(ask: AskAnswer) -> Response:
    """Answer the waiting request with what became of its turn."""
    match ask:
        case TurnRecord():
            return _render_turn(ask)
        case Replayed(turn):
            answer = _render_turn(turn)
            answer.headers["Idempotent-Replayed"] = "true"
            return answer
        case KeyReused():
            detail = f"Another body was sent with this key before. This one was not taken. {NO_REFUND}"
            return respond(Problem(Kind.KEY_REUSED, detail))
        case ConversationBusy():
            detail = (
                f"Another message of this conversation is being answered. This one was not taken. {NO_REFUND}"
            )
            return respond(Problem(Kind.CONVERSATION_BUSY, detail))
        case StillRunning(turn_id):
            adopt_turn_id(turn_id)
            detail = (
                "This process stops, and the turn that the key belongs to runs on: a refund may be on its "
                "way. Send the same request with the same key again, and you get its answer."
            )
            return respond(Problem(Kind.STILL_RUNNING, detail, refund=UNKNOWN_REFUND, headers=RETRY_AFTER))
        case NotStored():
            detail = f"The database did not take the request. It never ran. {NO_REFUND}"
            return respond(Problem(Kind.NOT_STORED, detail, headers=RETRY_AFTER))
        case KeyUnreadable():
            return respond(KEY_UNREADABLE)
        case Unreadable(turn_id):
            adopt_turn_id(turn_id)
            detail = (
                "The request was taken and may have run, but the database cannot be asked what became of it. "
                "A refund may have been sent. Do not send the request again; a colleague will check."
            )
            return respond(Problem(Kind.OUTCOME_UNREADABLE, detail, refund=UNKNOWN_REFUND))
        case _:
            assert_never(ask)


def _render_turn(turn: TurnRecord) -> Response:
    adopt_turn_id(turn.id)
    if isinstance(turn.outcome, Replied):
        return jsonify({"reply": turn.outcome.text})
    return respond(problem_of(turn))


def problem_of(turn: TurnRecord) -> Problem:
    """Say how a turn ended that has no reply."""
    match turn.outcome:
        case BudgetExhausted():
            return _ended(turn, Kind.BUDGET_EXHAUSTED, "Five completions were used and there is no reply.")
        case ProviderFailed():
            return _ended(turn, Kind.PROVIDER_FAILED, "The model's provider did not give a usable answer.")
        case ProviderTimedOut():
            return _ended(turn, Kind.PROVIDER_TIMED_OUT, "The model's provider timed out twice.")
        case DeadlinePassed():
            return _ended(turn, Kind.DEADLINE_PASSED, "The turn did not end in the time it had.")
        case NotAccepted():
            return _not_accepted(turn)
        case Broken():
            return _ended(turn, Kind.INTERNAL_ERROR, "A mistake of ours ended the turn.")
        case Replied() | None:
            raise AssertionError("only a turn that has ended without a reply is a problem")
        case _:
            assert_never(turn.outcome)


def _not_accepted(turn: TurnRecord) -> Problem:
    """Tell a turn that can never run from one that ran although its queue failed.

    The second is no 503: whoever repeats the request after `Retry-After` could refund twice.
    """
    if refund_view(turn.refund) is not None:
        return _ended(turn, Kind.QUEUE_LOST, "The queue failed, but the turn had already been started.")
    detail = f"The queue did not surely take the request. It can never run. {NO_REFUND}"
    return Problem(Kind.NOT_QUEUED, detail, headers=RETRY_AFTER)


def _ended(turn: TurnRecord, kind: Kind, what_happened: str) -> Problem:
    detail = f"{what_happened} {_say_refund(turn.refund)}"
    return Problem(kind, detail, refund=refund_view(turn.refund))


def refund_view(record: RefundRecord | None) -> Mapping[str, object] | None:
    """Show an attempted refund; None when none was attempted and none can be."""
    if record is None or record.state == "closed":
        return None
    asked = {"order_id": record.order_id, "amount_cents": record.amount_cents}
    match record.state:
        case "claimed" | "unknown":
            return {"state": "unknown", **asked}
        case "paid":
            return {"state": "paid", **asked, "refund_id": record.refund_id}
        case "rejected" | "not_sent":
            return {"state": record.state, **asked}
        case _:
            assert_never(record.state)


def _say_refund(record: RefundRecord | None) -> str:
    """Say what became of the money, and what the caller must not do."""
    if record is None:
        return NO_REFUND
    match record.state:
        case "closed":
            return NO_REFUND
        case "claimed" | "unknown":
            return (
                "A refund was requested and its outcome is not known: the money may or may not have moved. "
                "Do not send the request again; a colleague will check."
            )
        case "paid":
            return "The refund was made all the same: see `refund`. Do not send the request again."
        case "rejected":
            return "Payments rejected the refund: no money moved, and this request will not try again."
        case "not_sent":
            return "The refund could not be sent: no money moved, and this request will not try again."
        case _:
            assert_never(record.state)
