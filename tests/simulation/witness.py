"""Sees everything and says what does not hold: the invariants of the whole service, in one place each."""

from collections.abc import Sequence

from refund_agent.outcomes import (
    AlreadyDecided,
    ClaimAnswer,
    Paid,
    PaymentAnswer,
    RefundRecord,
    Rejected,
    Unknown,
)
from refund_agent.ports import CompletionAnswer, CompletionFailed
from refund_agent.prompts import REFUND_CHAT
from refund_agent.turn import Message
from tests.simulation.database import SimulatedDatabase
from tests.simulation.hostile_bodies import NO_COMPLETIONS
from tests.simulation.hostile_calls import Calls
from tests.simulation.lives import Life, Lives
from tests.simulation.outside import Mirror, Redis
from tests.simulation.payment_answers import Meaning
from tests.simulation.scheduler import Process
from tests.simulation.stage import Stage
from tests.simulation.timing import Timing
from tests.simulation.watch_completions import CompletionWatch
from tests.simulation.watch_money import MAY_HAVE_MOVED, MoneyWatch
from tests.simulation.watch_turns import TurnWatch
from tests.simulation.watch_words import WordWatch


class Witness:
    """Hears what was committed, what the outside saw and what callers were told."""

    def __init__(self, stage: Stage, database: SimulatedDatabase, calls: Calls, timing: Timing) -> None:
        self._stage = stage
        self._database = database
        self.lives = Lives(stage, calls)
        self._turns = TurnWatch(self.lives, lease_seconds=timing.lease_seconds)
        self._money = MoneyWatch(
            self.lives,
            self._turns,
            settle_seconds=timing.settle_seconds,
            needed_seconds=timing.payments_timeout_seconds + 1.0,
        )
        self._completions = CompletionWatch(
            self.lives, instructions=REFUND_CHAT, backoff_seconds=timing.backoff_seconds
        )
        self._words = WordWatch(
            self.lives, deadline_seconds=timing.deadline_seconds, backoff_seconds=timing.backoff_seconds
        )

    # --- commits ----------------------------------------------------------------------------------

    def turn_written(self, *row: object) -> None:
        life = self.lives.of[str(row[0])]
        before = life.state
        self._stage.note_for(life.id, f"turn is {row[1]}, epoch {row[2]}, used {row[4]}, attempts {row[5]}")
        self._turns.written(life, row)
        self.lives.unended.add(life.id)
        if before != "ended" and life.state == "ended":
            self._stage.note_for(life.id, f"turn has ended: {life.outcome}")
            self.lives.unended.discard(life.id)
            life.ended_at = self.lives.now
            self._words.ended(life, self._stage.scheduler.me(), before=before)

    def refund_written(self, *row: object) -> None:
        life = self.lives.of[str(row[0])]
        self._stage.note_for(life.id, f"refund is {row[1]} ({row[5]} for {row[4]!r}, epoch {row[2]})")
        self._money.written(life, row)
        (self.lives.open_claims.add if row[1] == "claimed" else self.lives.open_claims.discard)(life.id)

    def approval_written(self, *row: object) -> None:
        """Refund chat knows no approvals."""

    def conversation_written(self, *row: object) -> None:
        """Refund chat knows no conversations."""

    def row_deleted(self, table: str, turn_id: str) -> None:
        self.lives.must(False, "no row is ever deleted", self.lives.of[turn_id], table)  # noqa: FBT003

    # --- what the outside saw ---------------------------------------------------------------------

    def completion_asked(
        self, turn_id: str, number: int, messages: Sequence[Message], timeout_seconds: float
    ) -> None:
        self._completions.asked(self.lives.of[turn_id], number, messages, timeout_seconds)

    def completion_answered(self, turn_id: str, number: int, answer: CompletionAnswer) -> None:
        self._completions.answered(self.lives.of[turn_id], self._stage.scheduler.me(), answer)

    def send_begins(self, turn_id: str) -> None:
        self._money.send_begins(self.lives.of[turn_id])

    def payments_asked(self, turn_id: str, order_id: str, amount_cents: int) -> None:
        row = "SELECT state, order_id, amount_cents FROM refunds WHERE turn_id = ?"
        self._money.asked(self.lives.of[turn_id], order_id, amount_cents, self._database.raw(row, turn_id))

    def payments_read(self, turn_id: str, meaning: Meaning, read: PaymentAnswer) -> None:
        """An answer was read: a clear one as what it says, any other as unclear."""
        is_right = type(read) is {"paid": Paid, "no": Rejected, "unclear": Unknown}[meaning]
        life = self.lives.of[turn_id]
        self.lives.must(is_right, "payments' answer is read as what it says", life, f"{meaning}: {read}")

    def completion_read(self, turn_id: str, kind: str, answer: CompletionAnswer) -> None:
        """A body was read: it is a completion unless it is none at all, or asks for too much."""
        is_refused = isinstance(answer, CompletionFailed)
        is_right = is_refused == (kind in NO_COMPLETIONS)
        life = self.lives.of[turn_id]
        self.lives.must(is_right, "a completion is read as what it is", life, f"{kind}: {answer}")

    def money_moved(self, turn_id: str, order_id: str, amount_cents: int) -> None:
        self._money.moved(self.lives.of[turn_id], order_id, amount_cents)

    def published(self, turn_id: str) -> None:
        """A message was sent; a sweeper may only send those of turns that were surely queued before."""
        life = self.lives.of[turn_id]
        if self._stage.scheduler.me().name == "sweeps":
            surely_queued = life.was_queued or life.owners > 0
            self.lives.must(surely_queued, "a sweeper publishes only what was queued before", life)

    def publish_failed(self, turn_id: str) -> None:
        """Whoever published was told that the broker may not have it."""
        if self._stage.scheduler.me().name == "request":
            self.lives.of[turn_id].queue_failed = True

    def mirrored(self, record: RefundRecord) -> None:
        life = self.lives.of[record.turn_id]
        was_so = life.gate is not None and record.state in life.gate.states
        self.lives.must(was_so, "the mirror shows only what was committed", life, record.state)

    # --- what the core was told -------------------------------------------------------------------

    def leases_are_kept(self, process: Process, running: frozenset[str]) -> None:
        """Upkeep is about to renew the leases of these turns: it must be all that the process runs."""
        for actor in process.actors:
            if actor.turn is not None:
                life = self.lives.of[actor.turn.id]
                self.lives.must(life.id in running, "a process knows the turns in its hands", life)

    def claim_answered(self, turn_id: str, answer: ClaimAnswer, *, asked_at: float) -> None:
        """The flag in memory and the fence come first: the ledger refuses only a worker that forgot."""
        life = self.lives.of[turn_id]
        turn = self._stage.scheduler.me().turn
        is_owner = turn is not None and turn.epoch == life.epoch
        refused = isinstance(answer, AlreadyDecided) and is_owner and not life.forgot
        # Between the claim and the look at what stood in its way the turn may have ended: that is no refusal.
        ended_meanwhile = life.state == "ended" and life.ended_at >= asked_at
        self.lives.must(
            not refused or ended_meanwhile, "the flag and the fence refuse before the ledger has to", life
        )

    def second_attempt_begins(self, turn_id: str, attempts: int) -> None:
        life = self.lives.of[turn_id]
        actor = self._stage.scheduler.me()
        stale = actor.turn is not None and actor.turn.epoch != life.epoch
        self.lives.must(
            stale or life.attempts >= attempts, "the second attempt is kept before its backoff", life
        )

    def told(self, life: Life, answer: object, *, seconds: float, store_failed: bool) -> str:
        is_stopping = self._stage.scheduler.me().process.is_stopping
        life.told = self._words.told(
            life, answer, seconds=seconds, store_failed=store_failed, is_stopping=is_stopping
        )
        self._stage.note_for(life.id, f"the caller is told: {life.told}")
        self._stage.tally.told[life.told] += 1
        return life.told

    def raised(self, turn_id: str, where: str, error: BaseException) -> None:
        """An exception came out of the core."""
        life = self.lives.of.get(turn_id) or Life(turn_id, "", 0.0)
        self.lives.must(False, "the core raises nothing", life, f"{where}: {error!r}")  # noqa: FBT003

    # --- the end ----------------------------------------------------------------------------------

    def forgot(self, turn_id: str) -> None:
        """A worker's memory lost the flag of a refund that it attempted."""
        self.lives.of[turn_id].forgot = True

    def is_quiet(self, mirror: Mirror, redis: Redis) -> bool:
        """Whether nothing is open, and the mirror shows it."""
        lives = self.lives
        if lives.unended or lives.open_claims:
            return False
        return redis.was_emptied or not any(self._is_behind(life, mirror) for life in lives.of.values())

    @staticmethod
    def _is_behind(life: Life, mirror: Mirror) -> bool:
        shown = mirror.rows.get(life.id)
        return life.gate is not None and (shown is None or shown.state != life.gate.state)

    def conclude(self, mirror: Mirror, redis: Redis, *, waiting: int) -> None:
        """Hold everything against everything, once all is quiet; `waiting` callers got no answer."""
        must = self.lives.must
        must(not waiting, "every caller is answered", Life("", "", 0.0), f"{waiting} still wait")
        for life in self.lives.of.values():
            gate = life.gate
            must(life.state in ("ended", ""), "every turn ends", life, life.state)
            must(gate is None or gate.state != "claimed", "no claim stays open", life)
            attempted = gate is not None and gate.state != "closed"
            must(attempted or not (life.requests or life.moved), "no money without a row", life)
            may_have = gate is not None and gate.state in MAY_HAVE_MOVED
            must(may_have or not life.moved, "moved money is paid or unknown", life, str(life.moved))
            if gate is not None and gate.state == "paid":
                must(len(life.moved) == 1, "paid means moved once, to the cent", life, str(life.moved))
            must(
                attempted == life.flag,
                "the flag says whether a refund was attempted",
                life,
                f"{gate}, {life.flag}",
            )
            must(redis.was_emptied or not self._is_behind(life, mirror), "the mirror catches up", life)
            self._stage.tally.endings[life.outcome or "never stored"] += 1
            self._stage.tally.refunds[gate.state if gate else "none"] += 1
