"""A conversation's history: the messages of its earlier turns, whole, capped, and safe to send to a model.

Every tool call keeps its answer. What is too long loses its oldest tool bodies first, then its oldest turns.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from refund_agent.outcomes import RefundRecord, Replied, TurnOutcome
from refund_agent.turn import AssistantMessage, Message, ToolResult, UserMessage

MAX_HISTORY_CHARACTERS = 48_000
TRIMMED = '{"trimmed": true}'
NOT_RUN = '{"error": "not run: the request ended before this call was answered"}'
ATTEMPTED = (
    '{"error": "the request ended before this call was answered; a refund was attempted in it, and what '
    'became of it is not known here: do not promise anything and do not call it failed"}'
)
NO_REPLY = "(This request ended without an answer.)"


def finished(
    messages: Sequence[Message], outcome: TurnOutcome, refund: RefundRecord | None = None
) -> list[Message]:
    """Return one ended turn's messages as the next turn is given them: calls answered, reply added.

    What a worker's death left unanswered is said to have not run only where nothing was attempted.
    """
    attempted = refund is not None and refund.state != "closed"
    whole = _answer_all_calls(messages, ATTEMPTED if attempted else NOT_RUN)
    text = outcome.text if isinstance(outcome, Replied) else NO_REPLY
    return [*whole, AssistantMessage(text)]


def join(turns: Sequence[Sequence[Message]], *, limit: int = MAX_HISTORY_CHARACTERS) -> list[Message]:
    """Join the turns, oldest first, within `limit` characters; a turn that does not fit goes as a whole."""
    kept = [list(turn) for turn in turns]
    for turn in kept:
        if _size(kept) <= limit:
            break
        turn[:] = [replace(m, content=TRIMMED) if isinstance(m, ToolResult) else m for m in turn]
    while kept and _size(kept) > limit:
        del kept[0]
    return [message for turn in kept for message in turn]


def _answer_all_calls(messages: Iterable[Message], answer: str) -> list[Message]:
    """Give every call that a crash left unanswered this answer, where it belongs."""
    whole: list[Message] = []
    open_calls: list[str] = []
    for message in messages:
        if isinstance(message, ToolResult):
            if open_calls:
                open_calls.pop(0)
        else:
            whole += [ToolResult(call_id, answer) for call_id in open_calls]
            open_calls = []
        whole.append(message)
        if isinstance(message, AssistantMessage):
            open_calls = [call.id for call in message.tool_calls]
    return whole + [ToolResult(call_id, answer) for call_id in open_calls]


def _size(turns: Iterable[Iterable[Message]]) -> int:
    return sum(_length(message) for turn in turns for message in turn)


def _length(message: Message) -> int:
    calls = message.tool_calls if isinstance(message, AssistantMessage) else ()
    return len(message.content) + sum(len(call.name) + len(call.arguments) for call in calls)


def words_of_a_person(text: str) -> Message:
    """Put what a member of staff wrote where the model reads it as the shop's own words."""
    return AssistantMessage(f"(A colleague wrote:) {text}")


def words_of_the_customer(text: str) -> Message:
    """Put what the customer wrote outside a turn, while a person owned the conversation."""
    return UserMessage(text)
