"""Approvals over HTTP: staff list them, approve or decline once, and see what became of the refund."""

from collections.abc import Mapping
from typing import Any, Final, assert_never, cast, get_args
from uuid import UUID

from flask import Response, jsonify, request
from flask_smorest import Blueprint

from refund_agent.approval_desk import ApprovalDesk
from refund_agent.approvals import Approval, ApprovalState, Decided, NoSuchApproval, NotPending, OwnRequest
from refund_agent.ports import StoreUnavailable
from web.api_docs import FOR_SUPPORT, READING_A_BODY, with_problems
from web.body import StrictJsonParser
from web.identity import require_staff
from web.ids import API_ROOT
from web.kinds import Kind
from web.problems import RETRY_AFTER, Problem, Refused, respond
from web.schemas import ApprovalDecision
from web.support_schemas import ApprovalList, DecidedApproval

LIMIT: Final = 100


def blueprint(desk: ApprovalDesk) -> Any:  # noqa: ANN401 - flask-smorest is not typed
    """Return the routes."""

    def waiting() -> Response:
        """List approvals, those that wait unless `state` asks for others, oldest first."""
        require_staff(write=False)
        state = request.args.get("state", "pending")
        if state not in get_args(ApprovalState):
            raise Refused(Problem(Kind.INVALID_BODY, "`state` is not one of an approval. Nothing was done."))
        listed = desk.page(state=cast("ApprovalState", state), limit=LIMIT)
        return jsonify({"approvals": [_show(approval) for approval in listed]})

    def decide(body: dict[str, str], approval_id: UUID) -> Response:
        """Approve or decline, once. Approving starts the refund; its result is said in the conversation."""
        staff = require_staff(write=True)
        answer = desk.decide(
            str(approval_id), approve=body["decision"] == "approve", by=staff.id, note=body["reason"]
        )
        match answer:
            case Decided(approval):
                sending = approval.id if approval.state == "approved" else None
                return jsonify({**_show(approval), "refund_turn_id": sending})
            case NotPending(approval):
                stands = "expired" if approval.state == "pending" else approval.state
                detail = f"It is {stands} already, by {approval.decided_by or 'time'}. Nothing was sent."
                raise Refused(Problem(Kind.STATE_CHANGED, detail, members={"approval": _show(approval)}))
            case OwnRequest():
                detail = "The requester may not decide about it. Nothing was changed."
                raise Refused(Problem(Kind.NOT_ALLOWED, detail))
            case NoSuchApproval():
                raise Refused(Problem(Kind.NO_SUCH_APPROVAL, "There is no such approval. Nothing was done."))
            case _:
                assert_never(answer)

    routes: Any = Blueprint("approvals", __name__, description="Refunds that wait for a person.")
    routes.ARGUMENTS_PARSER = StrictJsonParser()
    listing: Any = routes.response(200, ApprovalList, description="The approvals.")(waiting)
    listing = with_problems(routes, listing, 401, 403, 422, 503)
    deciding: Any = routes.arguments(ApprovalDecision, location="json")(decide)
    deciding = routes.response(200, DecidedApproval, description="The decision is saved.")(deciding)
    deciding = with_problems(routes, deciding, *READING_A_BODY, 401, 403, 404, 409, 503)
    for rule, view, method in (
        (f"{API_ROOT}approvals", listing, "GET"),
        (f"{API_ROOT}approvals/<uuid:approval_id>", deciding, "POST"),
    ):
        documented = routes.doc(security=FOR_SUPPORT)(view)
        routes.add_url_rule(rule, view_func=documented, methods=[method])
    routes.register_error_handler(StoreUnavailable, _away)
    return routes


def _away(_: StoreUnavailable) -> Response:
    detail = "The database cannot be asked now. It is not certain that the decision was saved; look again."
    return respond(Problem(Kind.NOT_READABLE, detail, headers=RETRY_AFTER))


def _show(approval: Approval) -> Mapping[str, object]:
    return {
        "approval_id": approval.id,
        "state": approval.state,
        "conversation_id": approval.conversation_id,
        "customer_id": approval.customer_id,
        "order_id": approval.order_id,
        "amount_cents": approval.amount_cents,
        "reason": approval.reason,
        "policy_version": approval.policy_version,
        "requested_at_ms": approval.requested_at_ms,
        "expires_at_ms": approval.expires_at_ms,
        "decided_by": approval.decided_by,
        "decision_note": approval.decision_note,
    }
