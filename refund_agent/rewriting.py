"""An optional second completion that puts the agent's last words plainly; without it they stand as they are.

It is given no status line and no tool: what the customer reads about money is made by code, after it. Its
every failure leaves the words that it was given.
"""

import re
from typing import Final, assert_never

import structlog

from refund_agent.outcomes import Superseded
from refund_agent.ports import Clock, Completed, CompletionFailed, CompletionTimedOut, Model, Turns
from refund_agent.prices import add_cost
from refund_agent.prompts import REPLY_INSTRUCTIONS
from refund_agent.replies import without_identifiers
from refund_agent.turn import MAX_COMPLETIONS, Turn, UserMessage

log = structlog.stdlib.get_logger(__name__)

LAST_COMPLETION: Final = MAX_COMPLETIONS - 1
"""The fifth is left to a turn that must be resumed: a rewording must not cost the reply itself."""
ENDING_SECONDS: Final = 2.0
"""What is left of the turn's time for storing its end."""
LEAST_REWORDING_SECONDS: Final = 1.0
MAX_GROWTH: Final = 2
MORE_CHARACTERS: Final = 200
"""A rewording is at most so many times as long as what it says again, and so many characters more."""
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")


class Rewriter:
    """Rewrites replies with a model of its own, within the turn's budget and time."""

    def __init__(
        self, *, model: Model, turns: Turns, clock: Clock, completion_timeout_seconds: float
    ) -> None:
        self._model = model
        self._turns = turns
        self._clock = clock
        self._completion_timeout_seconds = completion_timeout_seconds

    def rewrite(self, turn: Turn, text: str) -> str | Superseded:
        """Return the text in other words, or as it was. `Superseded`: this worker lost the turn."""
        words = without_identifiers(text).strip()
        seconds = min(
            self._completion_timeout_seconds, turn.deadline - self._clock.monotonic() - ENDING_SECONDS
        )
        if not words or turn.completions_used >= LAST_COMPLETION or seconds < LEAST_REWORDING_SECONDS:
            return text
        turn.completions_used += 1
        if not self._turns.checkpoint(turn):
            return Superseded()
        answer = self._model.complete(
            [REPLY_INSTRUCTIONS, UserMessage(words)],
            (),
            request_id=f"{turn.id}-{turn.completions_used}",
            timeout_seconds=seconds,
        )
        match answer:
            case Completed():
                turn.tokens_used += answer.tokens
                turn.cost_microdollars = add_cost(turn.cost_microdollars, answer.cost_microdollars)
                return self._take(turn, answer, words) or text
            case CompletionTimedOut():
                return self._keep(turn, text, "timed out")
            case CompletionFailed(reason):
                return self._keep(turn, text, reason)
            case _:
                assert_never(answer)

    def _take(self, turn: Turn, answer: Completed, words: str) -> str:
        """Return what was said, or nothing when it is not the same thing in other words."""
        said = answer.message.content.strip()
        is_whole = bool(said) and not answer.truncated and not answer.message.tool_calls
        if not is_whole or len(said) > MAX_GROWTH * len(words) + MORE_CHARACTERS:
            return self._keep(turn, "", "it is no rewording")
        if not numbers_in(said) <= numbers_in(words):
            return self._keep(turn, "", "it has figures of its own")
        return said

    def _keep(self, turn: Turn, text: str, why: str) -> str:
        log.warning("reply_not_rewritten", turn_id=turn.id, reason=why)
        return text


def numbers_in(text: str) -> set[str]:
    """Return every number in a text: a rewording has no other."""
    return set(_NUMBER.findall(text))
