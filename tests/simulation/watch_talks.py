"""What must hold for what the model is shown in a conversation, and for what its customer reads."""

import json
from collections.abc import Callable, Sequence

from refund_agent.claims import amounts_cents, claims_money_moved, sentences
from refund_agent.ports import Completed
from refund_agent.turn import AssistantMessage, Message, ToolResult, UserMessage
from tests.simulation.lives import Gate, Life, Lives
from tests.simulation.scheduler import Actor
from tests.simulation.watch_completions import CompletionWatch
from tests.simulation.watch_words import WordWatch

MADE_BY_CODE = (
    "Refund sent: ",
    "Refund not certain yet: ",
    "Refund not made: ",
    "No refund has been made yet: ",
    "(No refund was made with this message.)",
    "Correction: ",
)
REFUSED_AT_THE_DESK = frozenset({"NoSuchConversation", "WithPerson", "TooFast", "ConversationBusy"})


class SupportCompletionWatch(CompletionWatch):
    """Checks each completion as it is asked, with the conversation before the turn's own messages."""

    def _own_messages(self, life: Life, actor: Actor, messages: Sequence[Message]) -> Sequence[Message]:
        before = len(actor.turn.history) if actor.turn is not None else 0
        for message in messages[1 : before + 1]:
            if isinstance(message, UserMessage):
                mine = life.customer_id in message.content
                self._lives.must(mine, "the history is the customer's own", life, message.content)
        return messages[before + 1 :]

    def _may_answer(self, tool: str, told: dict[str, object]) -> bool:
        """Only a refund that runs, or that became an approval, may be told anything but an error."""
        is_waiting = told.get("decision") == "needs_approval" and "waiting_for_approval_cents" in told
        return tool != "issue_refund" or set(told) == {"error"} or is_waiting


class SupportWordWatch(WordWatch):
    """Checks each ending and each answer; what is said about money is the ledger's."""

    def __init__(
        self,
        lives: Lives,
        *,
        deadline_seconds: float,
        backoff_seconds: float,
        is_with_a_person: Callable[[Life], bool],
    ) -> None:
        super().__init__(lives, deadline_seconds=deadline_seconds, backoff_seconds=backoff_seconds)
        self._is_with_a_person = is_with_a_person

    def _is_the_reply(self, life: Life, answer: object) -> bool:
        turn, reply = self._lives.stage.scheduler.me().turn, life.reply or ""
        if life.outcome != "replied":
            return False
        if turn is None or turn.agent == "approval":
            return turn is not None and not turn.completions_used
        gate = life.gate if life.gate is not None and life.gate.state != "closed" else None
        if not life.forgot:
            self._is_backed(life, gate, reply)
        calls = [call for m in turn.messages if isinstance(m, AssistantMessage) for call in m.tool_calls]
        used_tools = any(call.name != "escalate_to_human" for call in calls)
        said_by_code = any(line in reply for line in MADE_BY_CODE)
        self._lives.must(
            said_by_code or not used_tools, "a reply about money carries the ledger's word", life, reply
        )
        if self._is_with_a_person(life) and not _handed_over(turn.messages):
            paragraphs = [part for part in reply.split("\n\n") if part]
            silent = all(part.startswith(MADE_BY_CODE) for part in paragraphs)
            self._lives.must(silent, "nothing is said while a person has the conversation", life, reply)
        return isinstance(answer, Completed) and not answer.message.tool_calls

    def _is_backed(self, life: Life, gate: Gate | None, reply: str) -> None:
        must = self._lives.must
        if gate is not None:
            must(
                _status_of(gate) in reply and f"for order {gate.order_id}" in reply,
                "a reply about money carries the ledger's word",
                life,
                f"{gate.state}: {reply}",
            )
        paid = gate is not None and gate.state == "paid"
        for sentence in sentences(reply):
            if claims_money_moved(sentence):
                true = paid and gate is not None and amounts_cents(sentence) <= {gate.amount_cents}
                must(true, "no claim that the ledger does not back", life, sentence)

    def told(
        self, life: Life, answer: object, *, seconds: float, store_failed: bool, is_stopping: bool
    ) -> str:
        name = type(answer).__name__
        if name in REFUSED_AT_THE_DESK:
            self._lives.must(not life.state, "an answer has its cause", life, name)
            return name
        if name == "NotTaken":
            self._lives.must(store_failed and not life.state, "an answer has its cause", life)
            life.tell_never_runs()
            life.told_no_refund = True
            return "not stored"
        return super().told(life, answer, seconds=seconds, store_failed=store_failed, is_stopping=is_stopping)


def _status_of(gate: Gate) -> str:
    if gate.state == "paid":
        return f"Reference: {gate.refund_id}"
    return "No money moved." if gate.state in {"rejected", "not_sent"} else "Refund not certain yet"


def _handed_over(messages: Sequence[Message]) -> bool:
    """Whether a tool of this turn handed the conversation over."""
    answers = [json.loads(m.content) for m in messages if isinstance(m, ToolResult)]
    return any(answer.get("handed_over") is True for answer in answers)
