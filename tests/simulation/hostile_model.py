"""A model that random-walks over everything a provider may answer, at the port and below it."""

from collections.abc import Sequence
from typing import Protocol

from refund_agent.ports import (
    Completed,
    CompletionAnswer,
    CompletionFailed,
    CompletionTimedOut,
    ToolDeclaration,
)
from refund_agent.turn import AssistantMessage, Message
from tests.simulation.hostile_bodies import Bodies
from tests.simulation.hostile_calls import Calls
from tests.simulation.modules import Modules
from tests.simulation.stage import Stage


class Listener(Protocol):
    """Is told what the model was asked and what it answered."""

    def completion_asked(
        self, turn_id: str, number: int, messages: Sequence[Message], timeout_seconds: float
    ) -> None:
        """A completion is made now."""

    def completion_answered(self, turn_id: str, number: int, answer: CompletionAnswer) -> None:
        """And this is what came back."""

    def completion_read(self, turn_id: str, kind: str, answer: CompletionAnswer) -> None:
        """A body of this kind was read."""

    def forgot(self, turn_id: str) -> None:
        """The worker's memory lost the flag."""


class HostileModel:
    """Implements the port `Model`."""

    def __init__(self, stage: Stage, modules: Modules, calls: Calls, listener: Listener) -> None:
        self._stage = stage
        self._read_completion = modules["refund_agent.adapters.completion_answer"].read_completion
        self._calls = calls
        self._bodies = Bodies(stage.rng, calls)
        self._listener = listener
        # An episode has a mood: how often the model is slow, and how soon it is done.
        self._slow = stage.rng.choice((0.02, 0.1, 0.4))
        self._done = stage.rng.choice((0.05, 0.2, 0.4))
        self._failing = stage.rng.choice((0.04, 0.04, 0.04, 0.04, 0.5))

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolDeclaration],
        *,
        request_id: str,
        timeout_seconds: float,
    ) -> CompletionAnswer:
        """Answer with anything, within the time allowed or not."""
        stage = self._stage
        turn_id, _, number = request_id.rpartition("-")
        stage.step("before the completion is asked")
        stage.note(f"completion {number} is asked")
        self._listener.completion_asked(turn_id, int(number), messages, timeout_seconds)
        answer = self._answer(turn_id, int(number), timeout_seconds)
        stage.note(f"completion {number}: {answer}")
        self._listener.completion_answered(turn_id, int(number), answer)
        self._may_forget(turn_id)
        return answer

    def _answer(self, turn_id: str, number: int, timeout_seconds: float) -> CompletionAnswer:
        stage, rng = self._stage, self._stage.rng
        asked_at = stage.scheduler.now
        if not stage.faults.healthy and rng.random() < self._slow:
            stage.tally.model["no answer in time"] += 1
            stage.scheduler.pause(timeout_seconds)
            return CompletionTimedOut()
        answer = self._draw(turn_id, number)
        stage.scheduler.pause(rng.random() ** 4 * timeout_seconds)
        stage.step("before the completion is read")
        is_late = stage.scheduler.now - asked_at > timeout_seconds
        return CompletionTimedOut() if is_late and rng.random() < 0.5 else answer

    def _draw(self, turn_id: str, number: int) -> CompletionAnswer:
        rng, tally = self._stage.rng, self._stage.tally.model
        kind = 0.0 if self._stage.faults.healthy else rng.random()
        done = self._done if number > 1 else self._done / 4
        if kind < done:
            tally["text"] += 1
            return Completed(AssistantMessage(self._calls.text()))
        if kind < done + self._failing:
            tally["failure"] += 1
            return CompletionFailed(rng.choice(("HTTP 500", "HTTP 429", "refused", "HTTP 401")))
        if kind < done + self._failing + 0.2:
            body_kind, body = self._bodies.draw(turn_id, number)
            tally[f"body: {body_kind}"] += 1
            answer: CompletionAnswer = self._read_completion(body)
            self._listener.completion_read(turn_id, body_kind, answer)
            return answer
        cut = rng.random() < 0.1
        calls = self._calls.calls(turn_id, number, cut=cut)
        tally["calls, cut" if cut else "calls"] += 1
        return Completed(AssistantMessage(rng.choice(("", "Let me see.")), calls), truncated=cut)

    def _may_forget(self, turn_id: str) -> None:
        """Let the worker's memory lose the flag, as a bug of its own would: the ledger must hold alone."""
        turn = self._stage.scheduler.me().turn
        attempted = turn is not None and turn.refund_attempted
        if turn is not None and attempted and self._stage.faults.strike("flag lost in memory"):
            self._stage.note("the worker forgot that it attempted the refund")
            self._listener.forgot(turn_id)
            turn.refund_attempted, turn.refund = False, None
