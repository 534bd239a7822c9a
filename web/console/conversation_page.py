"""One conversation: everything that was said, with the waterfall of each turn where it was asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from flask import Blueprint, Response

from refund_agent.conversations import Conversation, Line
from web.console.pages import Pages
from web.console.turn_page import TurnView, view_turn
from web.identity import require_staff
from web.kinds import Kind
from web.problems import Problem, Refused
from web.services import ConsoleServices

MOST_TURNS: Final = 40
SPEAKERS: Final = {"customer": "Customer", "agent": "Assistant", "staff": "Colleague", "system": "Note"}


@dataclass(frozen=True, slots=True)
class Moment:
    """One line of the transcript, and the turn that it began, if it did."""

    at_ms: int
    speaker: str
    name: str
    text: str
    turn_id: str
    turn: TurnView | None = None


def add_routes(routes: Blueprint, *, pages: Pages, console: ConsoleServices) -> None:
    """Add the routes."""

    @routes.get("/conversations/<uuid:conversation_id>")
    def conversation(conversation_id: UUID) -> Response:
        """Show one conversation."""
        require_staff(write=False)
        found = console.conversations.find(str(conversation_id), customer_id=None)
        if found is None:
            detail = "There is no such conversation. Nothing was done."
            raise Refused(Problem(Kind.NO_SUCH_CONVERSATION, detail))
        # Asked before the page is made: whoever looks every few seconds mostly finds what was there before.
        return pages.unless_seen(console.turn_files.stamp(found.id), lambda: _show(found))

    def _show(found: Conversation) -> Response:
        files = console.turn_files.of_conversation(found.id, limit=MOST_TURNS)
        turns = [view_turn(file) for file in files]
        return pages.show(
            "conversation.html",
            place="conversations",
            conversation=found,
            moments=weave(console.conversations.lines(found.id), turns),
            running=next((turn.id for turn in turns if turn.waterfall.timeline.is_running), ""),
            newest=turns[-1].id if turns else "",
            left_out=sum(not file.is_whole for file in files),
        )


def weave(lines: Sequence[Line], turns: Sequence[TurnView]) -> list[Moment]:
    """Put each turn beneath the line that began it; one that no customer began stands by itself."""
    unplaced = {turn.id: turn for turn in turns}
    moments = [
        Moment(
            at_ms=line.at_ms,
            speaker=line.speaker,
            name=line.author or SPEAKERS[line.speaker],
            text=line.text,
            turn_id=line.turn_id,
            turn=unplaced.pop(line.turn_id, None) if line.speaker == "customer" else None,
        )
        for line in lines
    ]
    for turn in unplaced.values():
        record = turn.waterfall.timeline.record
        text = f"{turn.agent.capitalize()}: {turn.state.lower()}."
        moments.append(Moment(record.created_at_ms, "system", SPEAKERS["system"], text, turn.id, turn))
    return sorted(moments, key=lambda moment: moment.at_ms)
