"""One fake per port, each with its port's name, and the builders that script a model.

The turns table and the ledger share a database and so a module, `fake_tables`. Time is virtual: only
`FakeClock.sleep` moves it.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self, TypeAlias

from refund_agent.outcomes import Paid, PaymentAnswer, RefundRecord, Unknown
from refund_agent.ports import (
    Completed,
    CompletionAnswer,
    CompletionFailed,
    CompletionTimedOut,
    QueueUnavailable,
    ToolDeclaration,
)
from refund_agent.turn import AssistantMessage, Message, ToolCall

# --- What a model may answer ----------------------------------------------------------------------


def says(text: str) -> Completed:
    """A completion of text alone."""
    return Completed(AssistantMessage(text))


def calls(*tool_calls: ToolCall, text: str = "", truncated: bool = False) -> Completed:
    """A completion that asks for these calls."""
    return Completed(AssistantMessage(text, tool_calls), truncated=truncated)


def refund_call(order_id: str, amount_cents: int, *, call_id: str = "call-1") -> ToolCall:
    """A valid `issue_refund`."""
    arguments = {"order_id": order_id, "amount_cents": amount_cents}
    return ToolCall(call_id, "issue_refund", json.dumps(arguments))


def calls_refund(order_id: str, amount_cents: int, *, call_id: str = "call-1") -> Completed:
    """A completion that asks for one valid refund."""
    return calls(refund_call(order_id, amount_cents, call_id=call_id))


def times_out() -> CompletionTimedOut:
    return CompletionTimedOut()


def fails(reason: str) -> CompletionFailed:
    return CompletionFailed(reason)


# --- The model ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """One completion as the model saw it."""

    messages: tuple[Message, ...]
    tools: tuple[ToolDeclaration, ...]
    request_id: str
    timeout_seconds: float


class FakeModel:
    """Gives its scripted answers in order; an entry may be a function, run at the time of the call."""

    def __init__(self, *script: CompletionAnswer | Callable[[], CompletionAnswer]) -> None:
        self.script = list(script)
        self.asked: list[Asked] = []

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolDeclaration],
        *,
        request_id: str,
        timeout_seconds: float,
    ) -> CompletionAnswer:
        self.asked.append(Asked(tuple(messages), tuple(tools), request_id, timeout_seconds))
        assert self.script, "the model was asked more often than the test allows"
        answer = self.script.pop(0)
        return answer() if callable(answer) else answer


# --- Money ----------------------------------------------------------------------------------------

PaymentEnding: TypeAlias = PaymentAnswer | Exception


class FakePayments:
    """Moves money for every request unless a scripted ending says otherwise.

    `requests` is what arrived, `moved` what was paid out. `endings` are used up one a request; the
    default is a matching receipt. `before` runs as a request arrives.
    """

    def __init__(self) -> None:
        self.requests: list[tuple[str, int]] = []
        self.moved: list[tuple[str, int]] = []
        self.endings: list[PaymentEnding] = []
        self.before: Callable[[], object] = lambda: None

    def ends(self, *endings: PaymentEnding) -> None:
        self.endings.extend(endings)

    def accepts_then_drops_the_answer(self) -> None:
        self.before = lambda: self.moved.append(self.requests[-1])
        self.ends(Unknown("ReadTimeout"))

    def refund(self, order_id: str, amount_cents: int, *, send_within_seconds: float) -> PaymentAnswer:
        assert send_within_seconds > 0
        self.requests.append((order_id, amount_cents))
        self.before()
        receipt = Paid(f"re-{len(self.requests)}", "succeeded", amount_cents)
        ending = self.endings.pop(0) if self.endings else receipt
        if isinstance(ending, Exception):
            raise ending
        if isinstance(ending, Paid):
            self.moved.append((order_id, amount_cents))
        return ending


# --- The rest of the outside ----------------------------------------------------------------------


class FakeAudit:
    """Keeps every row it was asked to mirror, in order; `is_away` refuses them. `before` runs first."""

    def __init__(self) -> None:
        self.mirrored: list[RefundRecord] = []
        self.is_away = False
        self.before: Callable[[], object] = lambda: None

    def mirror(self, record: RefundRecord) -> bool:
        self.before()
        if not self.is_away:
            self.mirrored.append(record)
        return not self.is_away


class FakeHints:
    """Keeps the hints that were given."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.woken: list[str] = []

    def phase(self, turn_id: str, phase: str) -> None:
        self.phases.append(phase)

    def ended(self, turn_id: str) -> None:
        self.woken.append(turn_id)


class FakeClock:
    """A clock that only moves when somebody sleeps, or a test says so. `before` runs as a sleep begins."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []
        self.before: Callable[[], object] = lambda: None

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0, "a sleep cannot be negative"
        self.before()
        self.slept.append(seconds)
        self.now += seconds


class FakeQueue:
    """Keeps what is published; with `is_away` it raises, after keeping the message if `keeps`."""

    def __init__(self) -> None:
        self.queued: list[str] = []
        self.is_away = False
        self.keeps = False
        self.before: Callable[[], object] = lambda: None

    def put(self, turn_id: str) -> None:
        self.before()
        if self.is_away:
            if self.keeps:
                self.queued.append(turn_id)
            raise QueueUnavailable("the broker is away")
        self.queued.append(turn_id)

    def is_empty(self) -> bool:
        if self.is_away:
            raise QueueUnavailable("the broker is away")
        return not self.queued


class FakeWaitingRoom:
    """A seat whose wait runs the next of `while_waiting`, or else lets the time pass."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self.while_waiting: list[Callable[[], object]] = []
        self.waits: list[float] = []
        self.taken: list[str] = []
        self.left: list[str] = []
        self.closing = False

    @contextmanager
    def seat(self, turn_id: str) -> Iterator[Self]:
        self.taken.append(turn_id)
        try:
            yield self
        finally:
            self.left.append(turn_id)

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        if self.while_waiting:
            self.while_waiting.pop(0)()
        else:
            self._clock.sleep(max(0.0, seconds))
