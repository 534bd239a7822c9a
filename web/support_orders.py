"""`GET /support/orders`: the customer's own orders, with what is refundable and why not."""

from typing import Any

from flask import Response, jsonify
from flask_smorest import Blueprint

from refund_agent.eligibility import Eligibility, JudgedOrder
from refund_agent.orders import MAX_LISTED, OrdersUnavailable
from refund_agent.policy import Approved, Denied
from refund_agent.policy_text import say
from refund_agent.ports import StoreUnavailable
from web.api_docs import FOR_SUPPORT, with_problems
from web.identity import require_customer
from web.ids import API_ROOT
from web.kinds import Kind
from web.problems import RETRY_AFTER, Problem, Refused
from web.support_schemas import OrderList


def blueprint(eligibility: Eligibility) -> Any:  # noqa: ANN401 - flask-smorest is not typed
    """Return the route."""

    def orders() -> Response:
        """List the signed-in customer's orders, each judged for all that is left of it."""
        try:
            judged = eligibility.judged_orders(require_customer().id, limit=MAX_LISTED)
        except (OrdersUnavailable, StoreUnavailable):
            detail = "The orders cannot be looked up now. Nothing was changed; ask again after `Retry-After`."
            raise Refused(Problem(Kind.NOT_READABLE, detail, headers=RETRY_AFTER)) from None
        return jsonify({"orders": [_show(order) for order in judged]})

    routes: Any = Blueprint("orders", __name__, description="The signed-in customer's orders.")
    documented: Any = routes.response(200, OrderList, description="The orders.")(orders)
    documented = with_problems(routes, documented, 401, 403, 503)
    documented = routes.doc(security=FOR_SUPPORT)(documented)
    routes.add_url_rule(f"{API_ROOT}orders", view_func=documented, methods=["GET"])
    return routes


def _show(judged: JudgedOrder) -> dict[str, object]:
    order, decision = judged.order, judged.decision
    rule = None if isinstance(decision, Approved) else decision.rule
    return {
        "order_id": order.id,
        "title": order.title,
        "status": order.status,
        "delivered_on": None if order.delivered_on is None else order.delivered_on.isoformat(),
        "currency": order.currency,
        "paid_cents": order.paid_cents,
        "refundable_cents": 0 if isinstance(decision, Denied) else judged.refundable_cents,
        "decision": {"rule": rule, "because": say(decision), "policy": decision.version},
    }
