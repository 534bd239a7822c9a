"""The support agent's part of plain English: which of the six tools a message asks for.

It keeps no state: what was called last, and what came back, stands in the transcript.
"""

import re
from typing import Final

from sandbox.answers import Json, is_object
from sandbox.completions import Play, call, calls, refund_call, says
from sandbox.conversation import Conversation
from sandbox.english import Wish, report, understand
from sandbox.pages import money

CHECK_TOOL: Final = "check_refund_eligibility"
MAX_REASON_LENGTH: Final = 300

GREETING: Final = "Hello! I can look up your orders, refund one, or fetch a colleague. What is it about?"
HELP: Final = "I can look up your orders, refund one, or fetch a colleague. Please tell me what you need."
HANDED_OVER: Final = "I have handed this to a colleague, who will answer you here."

_PERSON = re.compile(
    r"\b(?:talk|speak|chat|write|connect|pass|hand|escalate|want|need|get|give)\b[^.?!]*"
    r"\b(?:person|human|agent|colleague|someone|somebody|representative|manager|supervisor)\b",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"\b(?:(?:my|all|list|show|which|what)\b[^.?!]*\borders|did i (?:order|buy))\b", re.IGNORECASE
)
_WHERE = re.compile(r"\b(?:where|when|track|status|arrive[ds]?|delivered|look up|show)\b", re.IGNORECASE)
_PROFILE = re.compile(r"\bwho am i\b|\bmy (?:profile|name|account)\b", re.IGNORECASE)


def assist(conversation: Conversation) -> Play:
    """Call a tool, or say what came of the last one."""
    if conversation.results:
        return _go_on(conversation)
    wishes = conversation.wishes
    said, wish = (wishes or [""])[0], understand(wishes)
    if _PERSON.search(said):
        about = {} if wish.order_id is None else {"order_id": wish.order_id}
        reason = said.strip()[:MAX_REASON_LENGTH]
        return calls(call("escalate_to_human", {**about, "reason": f"The customer says: {reason}"}))
    newest = understand(wishes[:1])
    if not newest.wants_refund and (lookup := _look_up(said, newest)):
        return lookup
    if wish.wants_refund:
        return _ask_or_check(wish)
    return says(GREETING if wish.greets else HELP)


def _look_up(said: str, wish: Wish) -> Play | None:
    if wish.order_id is not None and _WHERE.search(said):
        return calls(call("get_order", {"order_id": wish.order_id}))
    if _PROFILE.search(said):
        return calls(call("get_my_profile", {}))
    if _ORDERS.search(said) or re.search(r"\b(?:where|when|status)\b.*\border\b", said, re.IGNORECASE):
        return calls(call("list_orders", {}))
    return None


def _ask_or_check(wish: Wish) -> Play:
    if wish.order_id is None or wish.amount_cents is None:
        return says(wish.missing())
    return calls(call(CHECK_TOOL, {"order_id": wish.order_id, "amount_cents": wish.amount_cents}))


def _go_on(conversation: Conversation) -> Play:
    """Issue what the check lets through, or hand to a person what needs one; say everything else."""
    result = conversation.results[-1]
    match conversation.last_call:
        case (tool, {"order_id": str(order_id), "amount_cents": int(cents)}) if tool == CHECK_TOOL:
            if is_object(result) and result.get("decision") in {"approved", "needs_approval"}:
                return calls(refund_call(order_id, cents))
        case _:
            pass
    return says(_told(result))


def _told(result: Json) -> str:
    """Say what a tool answered, and no more than it did."""
    match result:
        case {"waiting_for_approval_cents": int(cents), **rest}:
            because = _because(rest)
            return (
                f"Your refund of {money(cents)} waits for a colleague's decision{because}. Nothing has been "
                "sent yet; the answer will come here."
            )
        case {"decision": "denied", **rest}:
            return f"I am sorry, this cannot be refunded{_because(rest)}. Nothing was sent."
        case {"handed_over": True}:
            return HANDED_OVER
        case {"orders": [*orders]}:
            return (
                "\n".join(["These are your orders:", *map(_order, orders)])
                if orders
                else "You have no orders."
            )
        case {"order_id": str(), "status": str()}:
            return _order(result) + "."
        case {"name": str(name)}:
            return f"You are signed in as {name}."
        case {"error": str(why)} if "unknown" not in why and "uncertain" not in why:
            return f"I am sorry, that did not work: {why}."
        case _:
            return report([result])


def _because(result: Json) -> str:
    because = str(result.get("because", "")).rstrip(".")
    return f": {because}" if because else ""


def _order(order: Json) -> str:
    when = f" on {order['delivered_on']}" if order.get("delivered_on") else ""
    return f"{order['order_id']}, {order['title']}, {order['paid']}: {order['status']}{when}"
