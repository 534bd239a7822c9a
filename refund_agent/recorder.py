"""Tells the journal what a turn does, from outside: each port is wrapped by one that says what passed.

The loop, the tools and what moves money know nothing of it. Nothing is told inside a claim's transaction:
the journal writes by a connection of its own, which would wait for that very transaction.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, assert_never

from refund_agent.journal import Journal
from refund_agent.outcomes import (
    AlreadyDecided,
    CallPosition,
    ClaimAnswer,
    Claimed,
    OrderBusy,
    PaymentAnswer,
    RefundRecord,
    RefusedByPolicy,
    Superseded,
    TurnOutcome,
)
from refund_agent.policy import Approved, Decision, Denied, Escalated, LockedFacts, PolicyCheck
from refund_agent.policy_text import say
from refund_agent.ports import (
    Completed,
    CompletionAnswer,
    CompletionFailed,
    CompletionTimedOut,
    Ledger,
    Model,
    Queue,
    ToolDeclaration,
)
from refund_agent.tools import Toolbox
from refund_agent.turn import Message, RunsTurns, ToolCall, ToolResult, Turn


@dataclass(frozen=True, slots=True)
class Recorder:
    """Wraps what an agent is built from, so that its turns are recorded."""

    journal: Journal

    def model(self, model: Model) -> Model:
        """Record `thinking` before, and `step` after each completion."""
        return RecordingModel(model, self.journal)

    def queue(self, queue: Queue) -> Queue:
        """Record `queued` as a turn's message is published."""
        return RecordingQueue(queue, self.journal)

    def toolbox(self, toolbox: Toolbox) -> Toolbox:
        """Record `tool_call`, `tool_result` and `hand_off`."""
        return RecordingToolbox(toolbox, self.journal)

    def ledger(self, ledger: Ledger) -> Ledger:
        """Record `policy`, `decision`, `claim` and `settle`."""
        return RecordingLedger(ledger, self.journal)

    def judged(self, turn: Turn, call: CallPosition, decision: Decision) -> None:
        """Record `policy` where a tool merely asked: what it said, and every rule that it asked."""
        told = {**tell_decision(decision), "because": say(decision), "findings": _tell_findings(decision)}
        self.journal.note(turn.id, "policy", {"call": str(call), **told})

    def agent(self, agent: RunsTurns) -> RunsTurns:
        """Record `begun` before, and `usage` after a worker's run of a turn."""
        return RecordingAgent(agent, self.journal)


class RecordingModel:
    """Implements the port `Model` around another."""

    def __init__(self, model: Model, journal: Journal) -> None:
        self._model = model
        self._journal = journal

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolDeclaration],
        *,
        request_id: str,
        timeout_seconds: float,
    ) -> CompletionAnswer:
        """Ask once; `request_id` is `<turn id>-<completion number>`, as the port says."""
        turn_id, _, number = request_id.rpartition("-")
        self._journal.note(turn_id, "thinking", {"completion": number})
        answer = self._model.complete(messages, tools, request_id=request_id, timeout_seconds=timeout_seconds)
        self._journal.note(turn_id, "step", {"completion": number, **_tell_step(answer)})
        return answer


def _tell_step(answer: CompletionAnswer) -> dict[str, object]:
    match answer:
        case Completed(message):
            return {
                "text": message.content,
                "calls": [call.name for call in message.tool_calls],
                "truncated": answer.truncated,
                "tokens": answer.tokens,
                "read_tokens": answer.read_tokens,
                "model": answer.model,
                "cost_microdollars": answer.cost_microdollars,
            }
        case CompletionTimedOut():
            return {"problem": "timed out"}
        case CompletionFailed(reason):
            return {"problem": "failed", "reason": reason}
        case _:
            assert_never(answer)


class RecordingQueue:
    """Implements the port `Queue` around another."""

    def __init__(self, queue: Queue, journal: Journal) -> None:
        self._queue = queue
        self._journal = journal

    def put(self, turn_id: str) -> None:
        """Tell, and publish: in this order, or the worker's first event would come before."""
        self._journal.note(turn_id, "queued", {})
        self._queue.put(turn_id)

    def is_empty(self) -> bool:
        """Whether no message waits for a worker."""
        return self._queue.is_empty()


class RecordingToolbox(Toolbox):
    """A toolbox around another."""

    def __init__(self, toolbox: Toolbox, journal: Journal) -> None:
        super().__init__([])
        self.declarations = toolbox.declarations
        self._toolbox = toolbox
        self._journal = journal

    def answer(self, turn: Turn, position: CallPosition, call: ToolCall) -> ToolResult | Superseded:
        """Answer one call, and tell both what was asked and what was answered."""
        which = {"call": str(position), "tool": call.name}
        self._journal.note(turn.id, "tool_call", {**which, "arguments": call.arguments})
        result = self._toolbox.answer(turn, position, call)
        if isinstance(result, ToolResult):
            answer: Any = json.loads(result.content)
            told = {**which, "ok": "error" not in answer, "result": answer}
            self._journal.note(turn.id, "tool_result", told)
            if answer.get("handed_over"):
                self._journal.note(turn.id, "hand_off", {**which, "to": "person"})
        return result


class RecordingLedger:
    """Implements the port `Ledger` around another."""

    def __init__(self, ledger: Ledger, journal: Journal) -> None:
        self._ledger = ledger
        self._journal = journal

    def claim(
        self,
        turn: Turn,
        *,
        call: CallPosition,
        order_id: str,
        amount_cents: int,
        check: PolicyCheck | None = None,
    ) -> ClaimAnswer:
        """Claim; then tell what the policy said under the lock, and what came of the claim."""
        decided: list[Decision] = []

        def remember(facts: LockedFacts) -> Decision:
            if check is None:
                raise AssertionError("nothing is remembered of a check that is not there")
            decided.append(check(facts))
            return decided[-1]

        answer = self._ledger.claim(
            turn,
            call=call,
            order_id=order_id,
            amount_cents=amount_cents,
            check=None if check is None else remember,
        )
        asked = {"call": str(call), "order_id": order_id, "amount_cents": amount_cents}
        for decision in decided:
            told = tell_decision(decision)
            # `sql_casebook` leaves out what holds `"rules":`: the `decision` beside it names the same rule.
            # A tool's question (`judged`) has no such event beside it, so its list is called `findings`.
            self._journal.note(turn.id, "policy", {**asked, **told, "rules": _tell_findings(decision)})
            told.pop("facts", None)
            self._journal.note(turn.id, "decision", {**asked, **told})
        self._journal.note(turn.id, "claim", {**asked, "answer": _name_claim(answer)})
        return answer

    def settle(self, claimed: RefundRecord, *, epoch: int, answer: PaymentAnswer) -> RefundRecord:
        """Settle, and tell the row as it now stands."""
        record = self._ledger.settle(claimed, epoch=epoch, answer=answer)
        self._journal.note(record.turn_id, "settle", {"epoch": epoch, **asdict(record)})
        return record


def tell_decision(decision: Decision) -> dict[str, object]:
    """Say a decision of the policy as the body of a `policy` or `decision` event.

    `sql_case_search` finds the rule that objected by the text `"rule":"X","version":`, so these two keys stay
    next to each other, in this order. (In the lists of findings no `version` follows a `rule`.)
    """
    match decision:
        case Approved(_, version):
            return {"decision": "approved", "version": version}
        case Denied(rule, version, facts):
            return {"decision": "denied", "rule": rule, "version": version, "facts": dict(facts)}
        case Escalated(rule, version, _, facts):
            return {"decision": "escalated", "rule": rule, "version": version, "facts": dict(facts)}
        case _:
            assert_never(decision)


def _tell_findings(decision: Decision) -> list[dict[str, object]]:
    return [
        {"rule": found.rule, "verdict": found.verdict, "facts": dict(found.facts)}
        for found in decision.findings
    ]


def _name_claim(answer: ClaimAnswer) -> str:
    match answer:
        case Claimed():
            return "claimed"
        case AlreadyDecided():
            return "already_decided"
        case OrderBusy():
            return "order_busy"
        case RefusedByPolicy():
            return "refused_by_policy"
        case Superseded():
            return "superseded"
        case _:
            assert_never(answer)


class RecordingAgent:
    """What runs a turn, around another."""

    def __init__(self, agent: RunsTurns, journal: Journal) -> None:
        self._agent = agent
        self._journal = journal

    def run(self, turn: Turn) -> TurnOutcome | Superseded:
        """Run the turn. `begun` says which owner this is; more than the first means that it was resumed."""
        self._journal.note(turn.id, "begun", {"owner": turn.epoch, "attempt": turn.attempts})
        outcome = self._agent.run(turn)
        if not isinstance(outcome, Superseded):
            used: dict[str, object] = {
                "completions": turn.completions_used,
                "attempts": turn.attempts,
                "tokens": turn.tokens_used,
                "outcome": type(outcome).__name__,
            }
            self._journal.note(turn.id, "usage", used)
        return outcome
