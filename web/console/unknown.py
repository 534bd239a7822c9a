"""The queue of refunds whose answer was lost. A person says whether the money moved; that sends nothing."""

from typing import Final, assert_never
from uuid import UUID

from flask import Blueprint, Response, request

from refund_agent.identity import Staff
from refund_agent.inspection import (
    IN_FLIGHT_SECONDS,
    AlreadyResolved,
    Inspected,
    NotUnknown,
    PersonsAnswer,
    Resolved,
    TooEarly,
)
from web.console import fields
from web.console.pages import Pages, lead_to, unless_same
from web.console.shown_cards import read_held
from web.console.writing import write_time
from web.identity import require_staff
from web.kinds import Kind
from web.problems import Problem, Refused
from web.services import ConsoleServices

LIMIT: Final = 100
TOO_EARLY: Final = (
    "The request may still be on its way to payments, so it cannot be known yet that no money moved. "
    "Look again and answer in {:.0f} s. Nothing was changed."
)


def add_routes(routes: Blueprint, *, pages: Pages, console: ConsoleServices) -> None:
    """Add the routes."""
    inspection = console.inspection

    @routes.get("/unknown")
    def unknown() -> Response:
        """List what is unknown, oldest first, with the evidence; after an answer, say what stands."""
        require_staff(write=False)
        found, done = inspection.unknown(limit=LIMIT, also=read_held(request.args)), just_answered()
        orders = [one.record.order_id for one in found]
        currencies = console.casebook.currencies(orders)
        return unless_same(
            pages.show(
                "unknown.html",
                place="unknown",
                found=found,
                done=done,
                currencies=currencies,
                limit=LIMIT,
                in_flight_seconds=IN_FLIGHT_SECONDS,
                say_what_stands=say_what_stands,
            )
        )

    @routes.route("/unknown/<uuid:turn_id>", methods=["POST"])
    def resolve(turn_id: UUID) -> Response:
        """Save a person's answer, once."""
        given = _read_answer(require_staff(write=True))
        answer = inspection.resolve(str(turn_id), given)
        match answer:
            case Resolved(record):
                return lead_to(f"/console/unknown?done={record.turn_id}")
            case AlreadyResolved():
                detail = f"{say_what_stands(answer)} Nothing was changed by you."
                raise Refused(Problem(Kind.STATE_CHANGED, detail))
            case NotUnknown():
                detail = f"{answer.why()} Nothing was changed."
                raise Refused(Problem(Kind.STATE_CHANGED, detail))
            case TooEarly(seconds):
                raise Refused(Problem(Kind.STATE_CHANGED, TOO_EARLY.format(seconds)))
            case _:
                assert_never(answer)

    def just_answered() -> Inspected | None:
        try:
            found = inspection.turn(str(UUID(request.args.get("done", ""))))
        except ValueError:
            return None
        settled = found is not None and found.turn.refund is not None and found.turn.refund.state != "unknown"
        return found if settled else None


def say_what_stands(answer: AlreadyResolved) -> str:
    """Say who answered first, and what."""
    paid = answer.record.state == "paid"
    moved = f"the money moved, reference {answer.record.refund_id}" if paid else "the money did not move"
    at = write_time(answer.resolved_at_ms)
    return f"{answer.resolved_by} answered at {at} UTC: {moved}. {answer.note}".strip()


def _read_answer(staff: Staff) -> PersonsAnswer:
    """Read which of the two answers it is: one needs payments' reference, the other a note."""
    if fields.choice("answer", "moved", "not_moved") == "moved":
        return PersonsAnswer(True, staff.id, fields.text("note", required=False), fields.line("reference"))  # noqa: FBT003 - reads as the answer it is
    return PersonsAnswer(money_moved=False, resolved_by=staff.id, note=fields.text("note"))
