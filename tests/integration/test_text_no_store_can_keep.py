"""NUL and lone surrogates: no database keeps them, so they end before it, and no turn breaks on them."""

import json

import pytest

from refund_agent.outcomes import Replied
from refund_agent.turn import ToolCall
from tests.fakes import calls, says
from tests.support_stage import SupportStage

ADA = "cust-ada"
UNSAFE = ["\x00", "\ud800", "\udfff"]


# --- The model's words ----------------------------------------------------------------------------


@pytest.mark.fault(298)
@pytest.mark.parametrize("character", UNSAFE)
def test_a_hand_over_whose_reason_cannot_be_kept_is_an_error_and_the_turn_goes_on(
    stage: SupportStage, character: str
) -> None:
    reason = ToolCall("call-1", "escalate_to_human", json.dumps({"reason": f"They ask.{character}"}))
    conversation_id = stage.open(ADA)
    turn = stage.say(
        "A person, please.",
        calls(reason),
        says("Which order is it about?"),
        conversation_id=conversation_id,
        customer_id=ADA,
    )
    assert isinstance(turn.outcome, Replied)
    assert "must not contain" in stage.tool_answers()[0]
    found = stage.conversations.find(conversation_id, customer_id=ADA)
    assert found is not None
    assert found.owner == "agent"
