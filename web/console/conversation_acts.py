"""What staff do in a conversation: take it over, write in it, give it back."""

from uuid import UUID

from flask import Blueprint, Response

from refund_agent.conversations import Conversations, Entry, Owner
from web.console import fields
from web.console.pages import lead_to
from web.conversations import BACK, JOINED
from web.identity import require_staff
from web.kinds import Kind
from web.problems import Problem, Refused


def add_routes(routes: Blueprint, *, conversations: Conversations) -> None:
    """Add the routes."""

    @routes.route("/conversations/<uuid:conversation_id>/take", methods=["POST"])
    def take(conversation_id: UUID) -> Response:
        """Take the conversation over: the agent is silent in it from here on."""
        return hand(conversation_id, to="person", entry=Entry("hand_off", _me(), JOINED))

    @routes.route("/conversations/<uuid:conversation_id>/give-back", methods=["POST"])
    def give_back(conversation_id: UUID) -> Response:
        """Give the conversation back to the agent."""
        return hand(conversation_id, to="agent", entry=Entry("taken_back", _me(), BACK))

    @routes.route("/conversations/<uuid:conversation_id>/messages", methods=["POST"])
    def write(conversation_id: UUID) -> Response:
        """Write in the conversation as a person."""
        author, words = _me(), fields.text("text")
        known = find(conversation_id)
        conversations.add(known, Entry("staff", author, words))
        return lead_to(f"/console/conversations/{known}")

    def hand(conversation_id: UUID, *, to: Owner, entry: Entry) -> Response:
        known = find(conversation_id)
        if not conversations.hand(known, to=to, entry=entry):
            whose = "a person has it" if to == "person" else "the agent has it"
            raise Refused(Problem(Kind.STATE_CHANGED, f"It was done already: {whose}. Nothing was changed."))
        return lead_to(f"/console/conversations/{known}")

    def find(conversation_id: UUID) -> str:
        found = conversations.find(str(conversation_id), customer_id=None)
        if found is None:
            raise Refused(
                Problem(Kind.NO_SUCH_CONVERSATION, "There is no such conversation. Nothing was done.")
            )
        return found.id


def _me() -> str:
    return require_staff(write=True).name
