"""The bounded loop: completion, tool calls, completion, ... at most five completions and one refund.

This loop is the only retry mechanism of the service: one time-out may be retried, within the budget.
It resumes: every completion is counted and every message kept before the next step, so a new owner
goes on exactly where the last one stopped.
"""

from typing import assert_never

from refund_agent.outcomes import (
    BudgetExhausted,
    DeadlinePassed,
    ProviderFailed,
    ProviderTimedOut,
    Replied,
    Superseded,
    TurnOutcome,
)
from refund_agent.ports import Clock, Completed, CompletionFailed, CompletionTimedOut, Hints, Model, Turns
from refund_agent.prices import add_cost
from refund_agent.tools import Toolbox, error, tool_result
from refund_agent.turn import MAX_ATTEMPTS, MAX_COMPLETIONS, SystemMessage, Turn


class Loop:
    """Runs one turn to its outcome."""

    def __init__(  # noqa: PLR0913 - the ports of the loop, all in sight
        self,
        *,
        instructions: SystemMessage,
        model: Model,
        toolbox: Toolbox,
        turns: Turns,
        hints: Hints,
        clock: Clock,
        completion_timeout_seconds: float,
        backoff_seconds: float,
    ) -> None:
        self._instructions = instructions
        self._model = model
        self._toolbox = toolbox
        self._turns = turns
        self._hints = hints
        self._clock = clock
        self._completion_timeout_seconds = completion_timeout_seconds
        self._backoff_seconds = backoff_seconds

    def run(self, turn: Turn) -> TurnOutcome | Superseded:
        """Run `turn` from wherever it stands. `Superseded`: this worker lost it and wrote nothing more."""
        for _ in range(MAX_COMPLETIONS + 1):
            if ending := self._step(turn):
                return ending
        raise AssertionError("five counted completions must have ended the turn")

    def _step(self, turn: Turn) -> TurnOutcome | Superseded | None:
        """Answer what is pending, then make one completion; None: go on."""
        if turn.budget_is_used_up:
            return BudgetExhausted()
        if lost := self._answer_pending_calls(turn):
            return lost
        left = turn.deadline - self._clock.monotonic()
        if left <= 0:
            return DeadlinePassed()
        turn.completions_used += 1
        if not self._turns.checkpoint(turn):
            return Superseded()
        self._hints.phase(turn.id, "thinking")
        answer = self._model.complete(
            [self._instructions, *turn.history, *turn.messages],
            self._toolbox.declarations,
            request_id=f"{turn.id}-{turn.completions_used}",
            timeout_seconds=min(self._completion_timeout_seconds, left),
        )
        match answer:
            case Completed():
                return self._take(turn, answer)
            case CompletionTimedOut():
                return self._after_timeout(turn)
            case CompletionFailed(reason):
                return ProviderFailed(reason)
            case _:
                assert_never(answer)

    def _take(self, turn: Turn, answer: Completed) -> TurnOutcome | None:
        """Keep the message; text ends the turn, tool calls go on unless no completion could report them."""
        turn.tokens_used += answer.tokens
        turn.cost_microdollars = add_cost(turn.cost_microdollars, answer.cost_microdollars)
        if not answer.message.tool_calls:
            return Replied(answer.message.content)
        if turn.budget_is_used_up:
            return BudgetExhausted()
        turn.messages.append(answer.message)
        if answer.truncated:
            refusal = error("not run: the message was cut at its length limit, arguments may be incomplete")
            turn.messages.extend(tool_result(call, refusal) for call in answer.message.tool_calls)
        return None

    def _answer_pending_calls(self, turn: Turn) -> Superseded | None:
        """Answer every unanswered call of the last message, by its own id, in order."""
        for position, call in turn.pending_calls():
            result = self._toolbox.answer(turn, position, call)
            if isinstance(result, Superseded):
                return result
            turn.messages.append(result)
        return None

    def _after_timeout(self, turn: Turn) -> TurnOutcome | Superseded | None:
        """Start the second attempt where the first stopped, if budget, attempts and time remain."""
        if turn.budget_is_used_up:
            return BudgetExhausted()
        if turn.attempts >= MAX_ATTEMPTS:
            return ProviderTimedOut()
        pause = turn.attempts * self._backoff_seconds
        if turn.deadline - self._clock.monotonic() <= pause:
            return DeadlinePassed()
        turn.attempts += 1
        # Kept before the backoff: a worker that dies in it must not leave a third attempt to the next owner.
        if not self._turns.checkpoint(turn):
            return Superseded()
        self._clock.sleep(pause)
        return None
