"""`POST /support/chat`: a signed-in customer's message in, the agent's reply or its event stream out."""

import hashlib
from typing import Any, Final

from flask import Response, jsonify, request
from flask_smorest import Blueprint

from refund_agent.facade import AskAnswer, Replayed, Started
from refund_agent.outcomes import Replied
from refund_agent.ports import StoreUnavailable
from refund_agent.support_desk import (
    Asked,
    CustomerMessage,
    NoSuchConversation,
    RunTurn,
    Said,
    SupportDesk,
    WithPerson,
)
from refund_agent.turn import TurnRecord
from web.admission import problem_of
from web.api_docs import FOR_SUPPORT, READING_A_BODY, with_problems
from web.body import StrictJsonParser
from web.conversations import NO_SUCH_CONVERSATION
from web.idempotency import fingerprint, read_key
from web.identity import require_customer
from web.ids import API_ROOT, adopt_turn_id, request_id, turn_id
from web.kinds import Kind
from web.languages import ACCEPT_LANGUAGE, in_language, readers_language
from web.problems import RETRY_AFTER, Problem, Refused, mark_taken, respond
from web.render import KEY_UNREADABLE, refund_view, render
from web.schemas import SupportChatReply, SupportChatRequest
from web.services import Asks
from web.turn_events import EVENT_STREAM, TurnStreams
from web.turn_view import replied

CONVERSATION_HEADER: Final = "X-Conversation-Id"
"""A stream has no body to say it in, and the next message needs it."""


def blueprint(desk: SupportDesk, facade: Asks, streams: TurnStreams) -> Any:  # noqa: ANN401 - flask-smorest is not typed
    """Return the route."""

    def chat(body: dict[str, Any]) -> Response:
        """Answer a customer's message; as an event stream when `Accept` is `text/event-stream`."""
        message = _read(require_customer().id, body)
        if request.accept_mimetypes.best_match(["application/json", EVENT_STREAM]) != EVENT_STREAM:
            return _answer(_say(desk, message, facade.ask))
        give_back = streams.places.take(f"customer {message.customer_id}")
        try:
            said = _say(desk, message, facade.start)
        except BaseException:
            give_back()
            raise
        if isinstance(said, Asked) and isinstance(said.ask, Started):
            streamed = streams.respond(said.ask.turn_id, give_back=give_back, language=readers_language())
            streamed.headers[CONVERSATION_HEADER] = said.conversation_id
            return streamed
        give_back()
        return _answer(said)

    routes: Any = Blueprint("support_chat", __name__, description="The support agent.")
    routes.ARGUMENTS_PARSER = StrictJsonParser()
    documented: Any = routes.arguments(SupportChatRequest, location="json")(chat)
    documented = routes.response(200, SupportChatReply, description="The agent's reply.")(documented)
    problems = (*READING_A_BODY, 401, 403, 404, 409, 429, 500, 502, 503, 504)
    documented = with_problems(routes, documented, *problems)
    streamed = {"200": {"content": {EVENT_STREAM: {"schema": {"type": "string"}}}}}
    documented = routes.doc(security=FOR_SUPPORT, parameters=[ACCEPT_LANGUAGE], responses=streamed)(
        documented
    )
    routes.add_url_rule(f"{API_ROOT}chat", view_func=documented, methods=["POST"])
    return routes


def _read(customer_id: str, body: dict[str, Any]) -> CustomerMessage:
    key = read_key()
    own_key = hashlib.sha256(f"{customer_id}\n{key}".encode()).hexdigest() if key else ""
    return CustomerMessage(
        turn_id=turn_id(),
        customer_id=customer_id,
        text=body["message"],
        conversation_id=str(body.get("conversation_id", "")),
        request_id=request_id(),
        idempotency_key=own_key,
        fingerprint=fingerprint({name: str(value) for name, value in body.items()}),
    )


def _say(desk: SupportDesk, message: CustomerMessage, run_turn: RunTurn) -> Said:
    mark_taken()
    try:
        return desk.say(message, run_turn)
    except StoreUnavailable:
        if message.idempotency_key:
            raise Refused(KEY_UNREADABLE) from None
        detail = "The database cannot be asked now. The message was not taken, and no refund was sent."
        raise Refused(Problem(Kind.NOT_STORED, detail, headers=RETRY_AFTER)) from None


def _answer(said: Said) -> Response:
    match said:
        case Asked(conversation_id, ask):
            return _told(conversation_id, ask)
        case WithPerson(conversation_id, replayed):
            body = {
                "reply": "",
                "words": None,
                "conversation_id": conversation_id,
                "turn_id": None,
                "refund": None,
                "owner": "person",
            }
            answer = jsonify(body)
            if replayed:
                answer.headers["Idempotent-Replayed"] = "true"
            return answer
        case NoSuchConversation():
            return respond(Problem(Kind.NO_SUCH_CONVERSATION, NO_SUCH_CONVERSATION))
        case _:
            problem = problem_of(said)
            if problem is None:
                raise AssertionError("a turn that was admitted was not asked for")
            return respond(problem)


def _told(conversation_id: str, ask: AskAnswer | Started) -> Response:
    """Give the reply its conversation; what is no reply is told as in refund-chat."""
    turn = ask.turn if isinstance(ask, Replayed) else ask
    if isinstance(turn, TurnRecord) and isinstance(turn.outcome, Replied):
        adopt_turn_id(turn.id)
        language = readers_language()
        answer = jsonify(
            {
                **replied(turn, language),
                "conversation_id": conversation_id,
                "turn_id": turn.id,
                "refund": refund_view(turn.refund),
                "owner": "agent",
            }
        )
        if isinstance(ask, Replayed):
            answer.headers["Idempotent-Replayed"] = "true"
        return in_language(answer, language)
    if isinstance(ask, Started):
        raise AssertionError("a turn that was only started is streamed, not rendered")  # noqa: TRY004 - a bug
    return render(ask)
