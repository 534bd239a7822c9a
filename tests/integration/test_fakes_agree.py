"""The fake tables of the unit tests answer as the real ones do, in whatever order they are asked."""

import uuid
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

import pytest

from refund_agent.adapters.sql_sweeps import MAX_OWNERS
from refund_agent.outcomes import (
    CallPosition,
    Claimed,
    DeadlinePassed,
    NotSent,
    Paid,
    PaymentAnswer,
    RefundRecord,
    Rejected,
    Replied,
    Unknown,
)
from refund_agent.ports import Ledger, Turns
from refund_agent.turn import NewTurn, Turn, TurnRecord, UserMessage
from tests.fake_tables import FakeDatabase, FakeLedger, FakeTurns
from tests.fakes import FakeClock
from tests.integration.conftest import Stores

Step: TypeAlias = tuple[str, int, str, PaymentAnswer]
LOST = Unknown("")
FIRST: Step = ("begin", 0, "", LOST)
SECOND: Step = ("begin", 1, "", LOST)
SAME_ORDER: Step = ("claim", 1, "A1", LOST)
LAST_EPOCH_TAKEN_OVER = 2 * MAX_OWNERS - 2
"""A turn that has cost more workers is ended by the sweeper, which the fake does not play."""

NAMES = [
    *["begin"] * 2,
    *["claim"] * 3,
    *["settle"] * 3,
    *["checkpoint", "end", "put_off", "give_up", "find", "owner_dies"],
]
ANSWERS: list[PaymentAnswer] = [
    Paid("re-1", "succeeded", 500),
    Rejected("no"),
    NotSent("refused"),
    Unknown("Cut", review=True),
]


@dataclass
class Side:
    """One implementation of the two tables, and what its workers hold in hand."""

    turns: Turns
    ledger: Ledger
    stores: Stores | FakeDatabase
    held: dict[int, list[Turn]] = field(default_factory=lambda: {0: [], 1: []})
    claims: dict[int, tuple[int, RefundRecord]] = field(default_factory=dict[int, tuple[int, RefundRecord]])

    def take(self, step: Step, ids: list[str]) -> object:
        """Do one step, by the first or the last that took the turn; return what a caller sees."""
        name, number, order, answer = step
        held = self.held[number]
        match name:
            case "begin":
                turn = self.turns.begin(ids[number], owner="worker")
                held.extend([turn] if turn else [])
                return turn and seen_by_owner(turn)
            case "give_up":
                return seen(self.turns.give_up(ids[number], DeadlinePassed()))
            case "find":
                return seen(self.turns.find(ids[number]))
            case "owner_dies":
                return self.owner_dies(ids[number])
            case "settle" if number in self.claims:
                epoch, claimed = self.claims[number]
                is_claimant = order == "A1"
                return self.ledger.settle(claimed, epoch=epoch if is_claimant else epoch + 1, answer=answer)
        if not held:
            return None
        turn = held[-1] if isinstance(answer, Paid) else held[0]
        return self.as_owner(name, number, turn, order + ids[0])

    def as_owner(self, name: str, number: int, turn: Turn, order: str) -> object:
        match name:
            case "claim":
                turn.messages.append(UserMessage("refund it"))
                claim = self.ledger.claim(turn, call=CallPosition(1, 0), order_id=order, amount_cents=500)
                if isinstance(claim, Claimed):
                    self.claims[number] = (turn.epoch, claim.record)
                return claim
            case "checkpoint":
                turn.messages.append(UserMessage("one more"))
                turn.completions_used += 1
                return self.turns.checkpoint(turn)
            case "end":
                return self.turns.end(turn, Replied("done"))
            case "put_off":
                self.turns.put_off(turn, seconds=60)
        return None

    def owner_dies(self, turn_id: str) -> bool:
        """Let the sweeper find the turn with an expired lease; a turn that does not run has none."""
        found = self.turns.find(turn_id)
        if found is None or found.state != "running" or found.epoch > LAST_EPOCH_TAKEN_OVER:
            return False
        if isinstance(self.stores, FakeDatabase):
            self.stores.owner_dies(turn_id)
            return True
        self.stores.silence_owner_of(turn_id)
        self.stores.sweeps.lapse_claims()
        return turn_id in self.stores.sweeps.take_over()


def seen_by_owner(turn: Turn) -> object:
    return (
        turn.epoch,
        turn.messages,
        turn.completions_used,
        turn.attempts,
        turn.refund_attempted,
        turn.refund,
    )


def seen(found: TurnRecord | None) -> object:
    return found and (found.state, found.outcome, found.completions_used, found.epoch, found.refund)


@pytest.mark.parametrize("seed", range(30))
def test_the_fake_tables_answer_as_the_real_ones_do(stores: Stores, seed: int) -> None:
    random = Random(seed)
    clock, database = FakeClock(), FakeDatabase()
    real = Side(stores.turns, stores.ledger, stores)
    fake = Side(FakeTurns(database, clock), FakeLedger(database), database)
    ids = [str(uuid.uuid4()), str(uuid.uuid4())]
    for side in (real, fake):
        for turn_id in ids:
            side.turns.create(NewTurn(turn_id, "user-1", "refund A1"))
    script = [
        (random.choice(NAMES), random.randrange(2), random.choice(["A1", "B2"]), random.choice(ANSWERS))
        for _ in range(30)
    ]

    first_refund = [("claim", 0, "A1", LOST), ("settle", 0, "A1", random.choice(ANSWERS)), SAME_ORDER]

    for step in [FIRST, SECOND, *(first_refund if seed % 2 else []), *script]:
        assert fake.take(step, ids) == real.take(step, ids), step
