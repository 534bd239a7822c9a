"""What must hold each time the model is asked: counted before, whole history, true results, backoff."""

import json
import re
from collections.abc import Sequence
from typing import cast

from refund_agent.outcomes import GateState, RefundRecord
from refund_agent.ports import Completed, CompletionAnswer, CompletionTimedOut
from refund_agent.refunds import tell
from refund_agent.turn import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolResult,
    UserMessage,
    encode_messages,
)
from tests.simulation.lives import Gate, Life, Lives
from tests.simulation.scheduler import Actor

TOLERANCE_SECONDS = 0.002
_NUL_AS_JSON = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


class CompletionWatch:
    """Checks each completion as it is asked."""

    def __init__(self, lives: Lives, *, instructions: SystemMessage, backoff_seconds: float) -> None:
        self._lives = lives
        self._instructions = instructions
        self._backoff_seconds = backoff_seconds

    def asked(self, life: Life, number: int, messages: Sequence[Message], timeout_seconds: float) -> None:
        must, actor = self._lives.must, self._lives.stage.scheduler.me()
        must(
            number not in life.completions, "each completion is counted once", life, f"number {number} again"
        )
        life.completions.append(number)
        must(len(life.completions) <= 5, "five completions and two attempts at most", life)
        must(
            life.used >= max(len(life.completions), number), "a completion is counted before it is made", life
        )
        must(
            timeout_seconds > 0
            and actor.read_clock_at + timeout_seconds <= life.deadline + TOLERANCE_SECONDS,
            "no completion outlives the deadline",
            life,
            f"looked at {actor.read_clock_at:.3f}, takes {timeout_seconds:.3f}, deadline {life.deadline:.3f}",
        )
        may_run = not life.told_never_runs or number <= life.used_when_told
        must(may_run, "a turn told 503 never runs", life, f"completion {number}")
        self._check_retry(life, actor)
        self._check_history(life, actor, messages)

    def _check_retry(self, life: Life, actor: Actor) -> None:
        if not isinstance(actor.last_answer, CompletionTimedOut):
            return
        must = self._lives.must
        life.retries += 1
        must(life.retries <= 1, "one time-out is retried, once", life)
        waited = self._lives.now - actor.last_answer_at
        must(waited >= self._backoff_seconds, "the backoff is kept", life, f"waited {waited:.3f} s")

    def _check_history(self, life: Life, actor: Actor, messages: Sequence[Message]) -> None:
        must = self._lives.must
        own = self._own_messages(life, actor, messages)
        must(
            messages[0] == self._instructions and bool(own) and own[0] == UserMessage(life.message),
            "the history begins with the instructions and the customer's words",
            life,
        )
        must(answers_are_in_order(messages), "each tool call is answered once, in order", life, str(messages))
        text = encode_messages(list(own))
        is_owner = actor.turn is not None and actor.turn.epoch == life.epoch and life.state == "running"
        must(not is_owner or text == life.transcript, "what the model sees is what is stored", life, text)
        must(is_clean(text), "the history can be sent and stored", life, repr(text[:300]))
        answer = actor.last_answer
        if isinstance(answer, Completed):
            kept = [message for message in messages if isinstance(message, AssistantMessage)]
            must(kept and kept[-1] == answer.message, "what the model said is kept", life)
        self._check_results(life, own)

    def _own_messages(self, life: Life, actor: Actor, messages: Sequence[Message]) -> Sequence[Message]:
        """Return what is this turn's own: here, all but the instructions."""
        del life, actor
        return messages[1:]

    def _may_answer(self, tool: str, told: dict[str, object]) -> bool:
        """Whether a call that was not executed may be answered so."""
        del tool
        return set(told) == {"error"}

    def _check_results(self, life: Life, messages: Sequence[Message]) -> None:
        """What the model is told about the refund is what the ledger says, or said when it was told."""
        gate = life.gate
        rounds = completion = 0
        calls: tuple[ToolCall, ...] = ()
        for message in messages:
            if isinstance(message, AssistantMessage):
                completion += 1
                rounds, calls = -1, message.tool_calls
            if not isinstance(message, ToolResult):
                continue
            rounds += 1
            told = json.loads(message.content)
            executed = gate is not None and gate.state != "closed" and gate.call == f"{completion}.{rounds}"
            if executed and gate is not None and not life.forgot:
                said = [tell(_record(life, gate, state)) for state in gate.states if state != "closed"]
                self._lives.must(
                    told in said, "the executed call is answered with its outcome", life, str(told)
                )
            elif not executed:
                self._lives.must(
                    rounds < len(calls) and self._may_answer(calls[rounds].name, told),
                    "a call that did not run is told so",
                    life,
                    str(told),
                )

    def answered(self, life: Life, actor: Actor, answer: CompletionAnswer) -> None:
        actor.last_answer, actor.last_answer_at = answer, self._lives.now


def answers_are_in_order(messages: Sequence[Message]) -> bool:
    """Whether every call of every message is followed by its own answer, in order, and by no others."""
    waiting: list[str] = []
    for message in messages:
        match message:
            case ToolResult(call_id, _):
                if not waiting or waiting.pop(0) != call_id:
                    return False
            case AssistantMessage(_, calls):
                if waiting or len({call.id for call in calls}) != len(calls):
                    return False
                waiting = [call.id for call in calls]
            case SystemMessage() | UserMessage():
                if waiting:
                    return False
    return not waiting


def is_clean(text: str) -> bool:
    """Whether any store and any peer can take the text."""
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return "\x00" not in text and ("\\u0000" not in text or _NUL_AS_JSON.search(text) is None)


def _record(life: Life, gate: Gate, state: str) -> RefundRecord:
    known = cast("GateState", state)
    texts = (gate.call, gate.refund_id, gate.status, gate.detail)
    return RefundRecord(life.id, known, gate.order_id, gate.amount_cents, *texts)
