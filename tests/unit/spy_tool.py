"""A tool that only notes what it was run with, behind the real toolbox."""

import json
from typing import Any

from refund_agent.outcomes import CallPosition
from refund_agent.tools import MAX_ERROR_LENGTH, Answer, IssueRefundArguments, Tool, Toolbox
from refund_agent.turn import ToolCall, ToolResult, Turn


class Spy:
    """A tool that keeps what it was run with and answers `{"ran": true}`."""

    def __init__(self) -> None:
        self.ran: list[dict[str, Any]] = []
        tool = Tool("issue_refund", "Refund.", IssueRefundArguments(), self.run)
        self.toolbox = Toolbox([tool])
        self.turn = Turn("turn-1", epoch=1, deadline=0.0, messages=[])

    def run(self, _turn: Turn, _call: CallPosition, arguments: dict[str, Any]) -> Answer:
        self.ran.append(arguments)
        return {"ran": True}

    def call(self, arguments: Any, *, name: str = "issue_refund", problem: str = "") -> dict[str, Any]:
        call = ToolCall("call-7", name, arguments, problem)
        result = self.toolbox.answer(self.turn, CallPosition(1, 0), call)
        assert isinstance(result, ToolResult)
        assert result.call_id == "call-7"
        answer = json.loads(result.content)
        assert isinstance(answer, dict)
        return answer

    def refuses(self, arguments: Any, **kinds: str) -> str:
        answer = self.call(arguments, **kinds)
        assert list(answer) == ["error"]
        assert self.ran == []
        assert len(answer["error"]) <= MAX_ERROR_LENGTH
        return str(answer["error"])


def arguments(order_id: object = "A1", amount_cents: object = 500, **more: object) -> str:
    return json.dumps({"order_id": order_id, "amount_cents": amount_cents, **more})
