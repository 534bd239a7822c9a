"""A payments service without an idempotency key that does everything that one can do to its caller.

It keeps its own list of the money that it moved. Every answer is either clear, and then true (a matching
receipt means that money moves, a definite no that it never will), or unclear, and then anything may be so.
"""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from refund_agent.outcomes import NotSent, PaymentAnswer, Unknown
from tests.simulation.modules import Modules
from tests.simulation.payment_answers import Meaning, answer_of
from tests.simulation.stage import Stage

WALL_SECONDS = 10.0
Moves: TypeAlias = Literal["now", "later", "never"]


class Book(Protocol):
    """Is told what reached payments and what money moved."""

    def send_begins(self, turn_id: str) -> None:
        """A worker has decided to send; until the request arrives it may still be killed or frozen."""

    def payments_asked(self, turn_id: str, order_id: str, amount_cents: int) -> None:
        """A request has arrived."""

    def money_moved(self, turn_id: str, order_id: str, amount_cents: int) -> None:
        """Money has left."""

    def payments_read(self, turn_id: str, meaning: Meaning, read: PaymentAnswer) -> None:
        """An answer of this meaning was read."""


@dataclass(frozen=True, slots=True)
class _Due:
    turn_id: str
    order_id: str
    amount_cents: int


class HostilePayments:
    """Implements the port `Payments`."""

    def __init__(self, stage: Stage, modules: Modules, book: Book) -> None:
        self._stage = stage
        self._read_answer = modules["refund_agent.adapters.payment_answer"].read_answer
        self._book = book
        self._due: list[_Due] = []
        # An episode has a mood: payments mostly answers, or resets every other call, or is slow.
        self._happens = stage.rng.choice((_HAPPENS, _HAPPENS, _RESETS))
        self._haste = stage.rng.choice((3.0, 3.0, 0.1))

    def refund(self, order_id: str, amount_cents: int, *, send_within_seconds: float) -> PaymentAnswer:
        """Ask once; what happens is drawn."""
        stage, rng = self._stage, self._stage.rng
        called_at = stage.scheduler.now
        stage.step("before the refund request leaves")
        if stage.scheduler.now - called_at > send_within_seconds:
            return NotSent("it is too late to send")
        happens = "answer" if stage.faults.healthy else rng.choice(self._happens)
        stage.tally.payments[happens] += 1
        if happens == "not sent":
            return NotSent("refused")
        if happens == "bug before sending":
            raise RuntimeError("a bug of the client, before it sent anything")
        due = _Due(stage.scheduler.me().turn_id, order_id, amount_cents)
        self._book.send_begins(due.turn_id)
        stage.note(f"payments is asked to move {amount_cents} for {order_id!r}")
        self._book.payments_asked(due.turn_id, order_id, amount_cents)
        if happens == "answer":
            return self._answer(due)
        self._move(due, rng.choice(("now", "later", "never")))
        stage.scheduler.pause(rng.random() * 9)
        if happens == "bug after sending":
            raise RuntimeError("a bug of the client, after it sent the request")
        if happens == "silence":
            stage.scheduler.pause(WALL_SECONDS)
        return Unknown("ReadTimeout" if happens == "silence" else "ConnectionError")

    def _answer(self, due: _Due) -> PaymentAnswer:
        stage, rng = self._stage, self._stage.rng
        kind, meaning, answer = answer_of(rng, due.amount_cents, faults=stage.faults)
        stage.tally.payments[f"answer {kind}"] += 1
        self._move(due, self._moves(meaning))
        asked_at = stage.scheduler.now
        takes = rng.random() ** self._haste * 1.1 * WALL_SECONDS
        stage.scheduler.pause(min(takes, WALL_SECONDS))
        stage.step("before the answer is read")
        # A process that was stopped meanwhile finds its time over and the answer there: either may win.
        was_stopped = stage.scheduler.now - asked_at > 2 * WALL_SECONDS
        if takes > WALL_SECONDS or (was_stopped and rng.random() < 0.5):
            stage.note("no answer of payments in time")
            return Unknown("ReadTimeout")
        read: PaymentAnswer = self._read_answer(answer, amount_cents=due.amount_cents)
        stage.note(f"payments answered ({kind}): {read}")
        self._book.payments_read(due.turn_id, meaning, read)
        return read

    def _moves(self, meaning: Meaning) -> Moves:
        if meaning == "paid":
            return "now"
        return "never" if meaning == "no" else self._stage.rng.choice(("now", "later", "never"))

    def _move(self, due: _Due, moves: Moves) -> None:
        if moves == "now":
            self._pay(due)
        elif moves == "later":
            self._due.append(due)
            when = self._stage.scheduler.now + self._stage.faults.seconds(0.5, 120.0)
            self._stage.scheduler.at(when, lambda: self._pay_if_due(due))

    def _pay_if_due(self, due: _Due) -> None:
        if due in self._due:
            self._due.remove(due)
            self._pay(due)

    def owes(self, turn_id: str) -> bool:
        """Whether money of this turn will still move, as payments' own people could tell."""
        return any(due.turn_id == turn_id for due in self._due)

    def pay_what_is_due(self) -> None:
        """Move now what would have moved later."""
        for due in list(self._due):
            self._pay_if_due(due)

    def _pay(self, due: _Due) -> None:
        self._stage.note_for(due.turn_id, f"MONEY MOVED: {due.amount_cents} for {due.order_id!r}")
        self._book.money_moved(due.turn_id, due.order_id, due.amount_cents)


_HAPPENS = (
    *("answer",) * 12,
    "not sent",
    "bug before sending",
    "bug after sending",
    "silence",
    "connection lost",
)
_RESETS = ("answer", "connection lost")
