"""A second provider for the support agent, asked when the first definitely fails, in the same completion."""

from collections.abc import Sequence
from typing import Final

import structlog

from refund_agent.ports import (
    Clock,
    CompletionAnswer,
    CompletionFailed,
    Model,
    ToolDeclaration,
)
from refund_agent.turn import Message

log = structlog.stdlib.get_logger(__name__)

LEAST_FALLBACK_SECONDS: Final = 1.0
"""With less of the completion's time left, the second provider is not asked."""


class FallbackModel:
    """Implements the port `Model`: asks `first`, and on `CompletionFailed` asks `second` once.

    One completion of the turn's budget either way, and one time limit for both together. A time-out is
    not a failure here: it has used the completion's time up, and its one retry is the loop's, which
    starts with the first provider again.
    """

    def __init__(self, first: Model, second: Model, *, clock: Clock) -> None:
        self._first = first
        self._second = second
        self._clock = clock

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolDeclaration],
        *,
        request_id: str,
        timeout_seconds: float,
    ) -> CompletionAnswer:
        """Ask once, or once of each."""
        ends_at = self._clock.monotonic() + timeout_seconds
        answer = self._first.complete(messages, tools, request_id=request_id, timeout_seconds=timeout_seconds)
        left = ends_at - self._clock.monotonic()
        if not isinstance(answer, CompletionFailed) or left < LEAST_FALLBACK_SECONDS:
            return answer
        log.warning("provider_fell_back", reason=answer.reason, seconds_left=round(left, 1))
        second = self._second.complete(
            messages, tools, request_id=f"{request_id}-fallback", timeout_seconds=left
        )
        if isinstance(second, CompletionFailed):
            return CompletionFailed(f"{answer.reason}; then, of the fallback: {second.reason}")
        return second
