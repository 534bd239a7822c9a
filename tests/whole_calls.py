"""What a provider demands of the messages it is sent."""

from collections.abc import Sequence

from refund_agent.turn import AssistantMessage, Message, ToolResult


def assert_every_call_is_answered(messages: Sequence[Message]) -> None:
    """A message's calls are answered by id, in order, before anything else is said."""
    expected: list[str] = []
    for message in messages:
        if isinstance(message, ToolResult):
            assert expected, f"an answer to nothing: {message}"
            assert message.call_id == expected.pop(0)
        else:
            assert not expected, f"unanswered calls: {expected}"
            if isinstance(message, AssistantMessage):
                expected = [asked.id for asked in message.tool_calls]
    assert not expected, f"unanswered calls: {expected}"
