"""The queue of refunds that wait for a person's decision. What is decided is sent once, whoever presses."""

from typing import Final, assert_never
from uuid import UUID

from flask import Blueprint, Response, request

from refund_agent.approval_desk import ApprovalDesk
from refund_agent.approvals import Approval, Decided, NoSuchApproval, NotPending, OwnRequest
from web.console import fields
from web.console.pages import Pages, lead_to, unless_same
from web.console.shown_cards import read_held
from web.console.writing import write_time
from web.identity import require_staff
from web.kinds import Kind
from web.problems import Problem, Refused
from web.services import ConsoleServices

LIMIT: Final = 100
NONE: Final = "There is no such approval. Nothing was done."


def add_routes(routes: Blueprint, *, pages: Pages, console: ConsoleServices) -> None:
    """Add the routes."""
    desk = console.approvals

    @routes.get("/approvals")
    def approvals() -> Response:
        """List what waits, oldest first; after a decision, say what was decided."""
        require_staff(write=False)
        waiting, done = _queue(desk), _just_decided(desk)
        currencies = console.casebook.currencies(
            [one.order_id for one in [*waiting, *([done] if done else [])]]
        )
        return unless_same(
            pages.show(
                "approvals.html",
                place="approvals",
                waiting=waiting,
                done=done,
                currencies=currencies,
                limit=LIMIT,
                say_what_stands=say_what_stands,
            )
        )

    @routes.route("/approvals/<uuid:approval_id>", methods=["POST"])
    def decide_approval(approval_id: UUID) -> Response:
        """Approve or decline, once."""
        staff = require_staff(write=True)
        approve = fields.choice("decision", "approve", "decline") == "approve"
        answer = desk.decide(str(approval_id), approve=approve, by=staff.id, note=fields.text("reason"))
        match answer:
            case Decided(approval):
                return lead_to(f"/console/approvals?done={approval.id}")
            case NotPending(approval):
                detail = f"{say_what_stands(approval)} Nothing was changed by you."
                raise Refused(Problem(Kind.STATE_CHANGED, detail))
            case OwnRequest():
                detail = "The requester may not decide about it. Nothing was changed."
                raise Refused(Problem(Kind.NOT_ALLOWED, detail))
            case NoSuchApproval():
                raise Refused(Problem(Kind.NO_SUCH_APPROVAL, NONE))
            case _:
                assert_never(answer)


def _queue(desk: ApprovalDesk) -> list[Approval]:
    """Return what waits and, in its place, what was decided while the page that asks had it in hand."""
    waiting = desk.page(state="pending", limit=LIMIT)
    decided = [
        found for one in read_held(request.args) if (found := desk.find(one)) and found.state != "pending"
    ]
    return sorted([*waiting, *decided], key=lambda one: one.requested_at_ms)


def _just_decided(desk: ApprovalDesk) -> Approval | None:
    try:
        found = desk.find(str(UUID(request.args.get("done", ""))))
    except ValueError:
        return None
    return None if found is None or found.state == "pending" else found


def say_what_stands(approval: Approval) -> str:
    """Say who came first, and when."""
    if approval.decided_by is None or approval.decided_at_ms is None:
        return "It has expired: nobody decided in time. Nothing was sent."
    return (
        f"{approval.decided_by} {approval.state} it at {write_time(approval.decided_at_ms)} UTC: "
        f"{approval.decision_note}"
    )
