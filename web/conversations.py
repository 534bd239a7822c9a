"""A customer's conversations, and what staff do in them: read, answer, take over and give back."""

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import UUID

from flask import Response, jsonify, request
from flask_smorest import Blueprint

from refund_agent import notices
from refund_agent.conversations import Conversation, Conversations, Cursor, Entry, Line, LineKind, Owner
from refund_agent.identity import Customer
from refund_agent.languages import Language
from refund_agent.notices import entry_in, reply_in, without_status_line
from refund_agent.ports import StoreUnavailable
from web.api_docs import FOR_SUPPORT, READING_A_BODY, with_problems
from web.body import StrictJsonParser
from web.identity import require_customer, require_identity, require_staff
from web.ids import API_ROOT
from web.kinds import Kind
from web.languages import ACCEPT_LANGUAGE, in_language, readers_language
from web.problems import NOT_READABLE, Problem, Refused, respond
from web.render import refund_view
from web.schemas import StaffMessage
from web.support_schemas import ConversationMessages, ConversationPage, ConversationView

PAGE_SIZE: Final = 20
JOINED: Final = notices.JOINED.say()
BACK: Final = notices.GIVEN_BACK.say()
NO_SUCH_CONVERSATION: Final = "There is no such conversation. Nothing was stored or sent."


def blueprint(conversations: Conversations) -> Any:  # noqa: ANN401 - flask-smorest is not typed
    """Return the routes."""
    reader, staff = _Reader(conversations), _StaffDesk(conversations)
    routes: Any = Blueprint("conversations", __name__, description="Conversations of the support agent.")
    routes.ARGUMENTS_PARSER = StrictJsonParser()
    path = f"{API_ROOT}conversations"
    one = f"{path}/<uuid:conversation_id>"
    told: Any = routes.doc(parameters=[ACCEPT_LANGUAGE])(reader.one)
    written: Any = routes.arguments(StaffMessage, location="json")(staff.write)
    by_staff, handing = (*READING_A_BODY, 401, 403, 404, 503), (401, 403, 404, 409, 503)
    for rule, name, view, method, schema, problems in (
        (path, "mine", reader.mine, "GET", ConversationPage, (401, 403, 422, 503)),
        (one, "one", told, "GET", ConversationMessages, (401, 404, 503)),
        (f"{one}/messages", "write", written, "POST", ConversationView, by_staff),
        (f"{one}/take", "take", staff.take, "POST", ConversationView, handing),
        (f"{one}/give-back", "give_back", staff.give_back, "POST", ConversationView, handing),
    ):
        documented: Any = routes.response(200, schema)(view)
        documented = routes.doc(security=FOR_SUPPORT)(with_problems(routes, documented, *problems))
        routes.add_url_rule(rule, endpoint=name, view_func=documented, methods=[method])
    routes.register_error_handler(StoreUnavailable, _away)
    return routes


class _Reader:
    """What a customer reads of their own conversations, and staff of any."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations

    def mine(self) -> Response:
        """List the customer's own conversations, newest first; `next` is the cursor of the next page."""
        customer = require_customer()
        before = _read_cursor(request.args.get("after", ""))
        page = self._conversations.page(customer_id=customer.id, before=before, limit=PAGE_SIZE + 1)
        listed = list(page[:PAGE_SIZE])
        following = _write_cursor(listed[-1]) if len(page) > PAGE_SIZE else None
        return jsonify({"conversations": [_show(found) for found in listed], "next": following})

    def one(self, conversation_id: UUID) -> Response:
        """Show a conversation, with times: of a long one, the newest 500 turns and entries."""
        found = _find(self._conversations, conversation_id)
        lines, language = self._conversations.lines(found.id), readers_language()
        shown = {**_show(found), "messages": [_show_line(line, language) for line in lines]}
        return in_language(jsonify(shown), language)


class _StaffDesk:
    """What staff do in a conversation."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations

    def write(self, body: dict[str, str], conversation_id: UUID) -> Response:
        """Write in a conversation as a person."""
        staff = require_staff(write=True)
        found = _find(self._conversations, conversation_id)
        self._conversations.add(found.id, Entry("staff", staff.name, body["text"]))
        return jsonify(_show(found))

    def take(self, conversation_id: UUID) -> Response:
        """Take the conversation over: the agent is silent in it from here on."""
        entry = Entry("hand_off", require_staff(write=True).name, JOINED)
        return self._hand(conversation_id, to="person", entry=entry)

    def give_back(self, conversation_id: UUID) -> Response:
        """Give the conversation back to the agent."""
        entry = Entry("taken_back", require_staff(write=True).name, BACK)
        return self._hand(conversation_id, to="agent", entry=entry)

    def _hand(self, conversation_id: UUID, *, to: Owner, entry: Entry) -> Response:
        found = _find(self._conversations, conversation_id)
        if not self._conversations.hand(found.id, to=to, entry=entry):
            raise Refused(Problem(Kind.STATE_CHANGED, "It was there already. Nothing was changed."))
        return jsonify(_show(_find(self._conversations, conversation_id)))


def _find(conversations: Conversations, conversation_id: UUID) -> Conversation:
    """Return a conversation that the caller may see; a foreign one is as good as none."""
    identity = require_identity()
    customer_id = identity.id if isinstance(identity, Customer) else None
    found = conversations.find(str(conversation_id), customer_id=customer_id)
    if found is None:
        raise Refused(Problem(Kind.NO_SUCH_CONVERSATION, NO_SUCH_CONVERSATION))
    return found


def _away(_: StoreUnavailable) -> Response:
    return respond(NOT_READABLE)


def _show(found: Conversation) -> Mapping[str, object]:
    return {
        "conversation_id": found.id,
        "owner": found.owner,
        "created_at_ms": found.created_at_ms,
        "updated_at_ms": found.updated_at_ms,
    }


def _show_line(line: Line, language: Language) -> Mapping[str, object]:
    """Show a line; `words` are its text for whoever shows its refund as well."""
    say, refund = _SAY.get(line.kind, entry_in), refund_view(line.refund)
    return {
        "at_ms": line.at_ms,
        "speaker": line.speaker,
        "kind": line.kind,
        "text": say(language, line.text),
        "words": None if refund is None else say(language, without_status_line(line.text)),
        "turn_id": line.turn_id or None,
        "refund": refund,
    }


def _as_written(_: Language, text: str) -> str:
    return text


_SAY: Final[Mapping[LineKind, Callable[[Language, str], str]]] = {
    "customer": _as_written,
    "staff": _as_written,
    "reply": reply_in,
}
"""Who is heard in a line: people, or the model up to the ends of its reply. All others are code's."""


def _write_cursor(last: Conversation) -> str:
    return base64.urlsafe_b64encode(json.dumps([last.updated_at_ms, last.id]).encode()).decode()


def _read_cursor(given: str) -> Cursor | None:
    """Read a cursor of ours; anything else is the first page's, as no secret is in it."""
    if not given:
        return None
    try:
        updated_at_ms, conversation_id = json.loads(base64.urlsafe_b64decode(given.encode()))
        return Cursor(int(updated_at_ms), str(UUID(conversation_id)))
    except (ValueError, TypeError, RecursionError):
        raise Refused(Problem(Kind.INVALID_BODY, "`after` is not a cursor. Nothing was done.")) from None
