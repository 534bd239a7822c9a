"""One turn: what was asked, what happened on the scale of its deadline, and what came of the money."""

from dataclasses import dataclass
from uuid import UUID

from flask import Blueprint, Response, request

from refund_agent.outcomes import RefundRecord, Replied
from refund_agent.timeline import Timeline, TurnFile, TurnFiles
from refund_agent.timeline_reading import read_timeline
from refund_agent.turn import UserMessage
from refund_agent.turn_steps import Judged
from web.console.pages import Pages, lead_to, unless_same
from web.console.step_details import refund_facts
from web.console.step_words import DECISIONS, REFUNDS, Tone, name_outcome
from web.console.waterfall import Scale, Waterfall, draw
from web.identity import require_staff
from web.kinds import Kind
from web.problems import Problem, Refused
from web.services import ConsoleServices

AGENTS = {"refund_chat": "refund chat", "support": "support agent", "approval": "approved refund"}


@dataclass(frozen=True, slots=True)
class RefundCard:
    """A turn's ledger row as a card: what stands, and what it is about."""

    name: str
    tone: Tone
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TurnView:
    """A turn as the pages show it. `asked` and `reply` are texts of people and models."""

    waterfall: Waterfall
    asked: str
    reply: str
    state: str
    tone: Tone
    agent: str
    refund: RefundCard | None
    verdict: tuple[str, Tone] | None

    @property
    def id(self) -> str:
        """The turn's id."""
        return self.waterfall.timeline.record.id

    @property
    def flags(self) -> int:
        """How many flags and corrections staff should look at."""
        return sum(row.family == "note" and row.tone == "doubt" for row in self.waterfall.rows)


def view_turn(file: TurnFile, *, scale: Scale | None = None) -> TurnView:
    """Make a turn's view."""
    timeline = read_timeline(file)
    drawn = draw(timeline, scale=scale)
    outcome = file.record.outcome
    state, tone = _state(file) if outcome is None else name_outcome(outcome)
    first = file.messages[0] if file.messages else None
    return TurnView(
        waterfall=drawn,
        asked=first.content if isinstance(first, UserMessage) else "",
        reply=outcome.text if isinstance(outcome, Replied) else "",
        state=state,
        tone=tone,
        agent=AGENTS[file.record.agent],
        refund=_card(file.record.refund, drawn.currency),
        verdict=_verdict(timeline),
    )


def _verdict(timeline: Timeline) -> tuple[str, Tone] | None:
    """Return the policy's last word in the turn, if it was asked."""
    judged = [step.what.decision for step in timeline.steps if isinstance(step.what, Judged)]
    return DECISIONS.get(judged[-1]) if judged else None


def _state(file: TurnFile) -> tuple[str, Tone]:
    if file.record.state != "running":
        return "Waiting for a worker", ""
    return ("Its worker is silent", "bad") if file.worker_is_silent else ("Running", "")


def _card(record: RefundRecord | None, currency: str) -> RefundCard | None:
    if record is None or record.state == "closed":
        return None
    name, tone = REFUNDS[record.state]
    facts = tuple(fact for fact in refund_facts(record, currency) if fact[0] != "Ledger")
    return RefundCard(name, tone, facts)


def add_routes(routes: Blueprint, *, pages: Pages, console: ConsoleServices) -> None:
    """Add the routes."""

    @routes.get("/turns/<uuid:turn_id>")
    def turn(turn_id: UUID) -> Response:
        """Show one turn; `?scale=` is `deadline` or `fit`."""
        require_staff(write=False)
        file = _find(console.turn_files, turn_id)
        view = view_turn(file, scale=_scale(request.args.get("scale", "")))
        return unless_same(pages.show("turn.html", turn=view))

    @routes.get("/refunds/<uuid:turn_id>")
    def refund(turn_id: UUID) -> Response:
        """Lead to the refund of a turn, which has the turn's own id."""
        require_staff(write=False)
        if _find(console.turn_files, turn_id).record.refund is None:
            raise Refused(Problem(Kind.NO_SUCH_TURN, "This turn has no refund. Nothing was done."))
        return lead_to(f"/console/turns/{turn_id}#refund")


def _find(files: TurnFiles, turn_id: UUID) -> TurnFile:
    file = files.of_turn(str(turn_id))
    if file is None:
        raise Refused(Problem(Kind.NO_SUCH_TURN, "There is no such turn. Nothing was done."))
    return file


def _scale(given: str) -> Scale | None:
    """Read the scale; whatever is none of the two is none."""
    scales: dict[str, Scale] = {"deadline": "deadline", "fit": "fit"}
    return scales.get(given)
