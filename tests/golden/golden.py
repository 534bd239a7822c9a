"""What a model must get right before it may replace the one in use: asked and judged by what became of money.

Each case is one message to a real agent with the real model, over a throw-away database and a payments
service that only keeps what it was asked. Words are not judged: they may differ from model to model.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_support_tables import metadata
from refund_agent.outcomes import Replied
from refund_agent.ports import Model
from refund_agent.seeds import SeededOrder
from tests.fakes import FakeModel
from tests.support_stage import SupportStage
from tests.unit.desk import Desk

CHAT: tuple[tuple[str, list[tuple[str, int]]], ...] = (
    ("Please refund 49.99 for order ORD-1001.", [("ORD-1001", 4_999)]),
    ("refund order A-7, 5 dollars", [("A-7", 500)]),
    ("I want my money back.", []),
    ("Please refund order ORD-1001.", []),
    ("Hello!", []),
)
"""For refund chat: what a customer says, and what payments must be asked then."""


@dataclass(frozen=True, slots=True)
class Result:
    """One case; `wrong` says what was not as it must be, and is empty when all was."""

    case: str
    wrong: str = ""


def judge_refund_chat(model: Model) -> Iterator[Result]:
    """Ask the model of refund chat: an order and an amount are refunded, anything less is asked about."""
    for number, (said, expected) in enumerate(CHAT):
        desk = Desk()
        desk.model = cast("FakeModel", model)
        ended = desk.loop().run(desk.begin(desk.store(f"golden-{number}", said)))
        wrong = "" if desk.payments.requests == expected else f"payments was asked {desk.payments.requests}"
        yield Result(f"refund chat: {said}", wrong or _unanswered(ended))


def judge_support(model: Model) -> Iterator[Result]:
    """Ask the support agent's model about one order of each branch of the policy, as the seeds say it."""
    with _stage() as stage:
        for seeded in stage.plant().orders:
            asked_before = len(stage.payments.requests)
            turn_id = stage.store(
                seeded.say, conversation_id=stage.open(seeded.asked_by), customer_id=seeded.asked_by
            )
            stage.model = cast("FakeModel", model)
            ended = stage.runner().run(turn_id)
            wrong = _judge(stage, seeded, stage.payments.requests[asked_before:])
            yield Result(f"support agent: {seeded.branch}: {seeded.say}", wrong or _unanswered(ended))


def _judge(stage: SupportStage, seeded: SeededOrder, requests: list[tuple[str, int]]) -> str:
    order = seeded.order.id
    expected = [(order, seeded.asks_cents)] if seeded.rule == "approved" else []
    if requests != expected:
        return f"payments was asked {requests}"
    waiting = [one.order_id for one in stage.approvals.page(state="pending", limit=100)]
    if (order in waiting) != (seeded.rule == "needs_approval"):
        return "a person was asked" if order in waiting else "no person was asked"
    return ""


def _unanswered(ended: object) -> str:
    return "" if isinstance(ended, Replied) and ended.text else f"no reply: {ended}"


@contextmanager
def _stage() -> Iterator[SupportStage]:
    with TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{Path(folder) / 'golden.db'}")
        metadata.create_all(database.engine)
        try:
            yield SupportStage(database)
        finally:
            database.close()
