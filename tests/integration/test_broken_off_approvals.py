"""Approved refunds whose turns ended without a word: each is told once, however many there are at once."""

import uuid

import pytest
from sqlalchemy import select

from refund_agent.adapters.sql_approvals import MAX_BROKEN_OFF, SqlApprovals
from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_support_tables import approvals, entries
from refund_agent.adapters.sql_tables import turns
from refund_agent.approvals import Decided, NewApproval
from tests.support_stage import SupportStage

ADA, DANA = "cust-ada", "staff-dana"
MORE = 30


@pytest.fixture
def stage(database: Database) -> SupportStage:
    return SupportStage(database)


def break_off(stage: SupportStage, count: int) -> list[str]:
    """Let this many approved refunds of one conversation come to their deadline, one after the other."""
    new = NewApproval(str(uuid.uuid4()), stage.open(ADA), ADA, "A1", 50_001, "large", "2026-11", 7)
    first = SqlApprovals(stage.database).request(new).id
    assert isinstance(stage.approval_desk.decide(first, approve=True, by=DANA, note="Yes."), Decided)
    ids = [first, *(str(uuid.uuid4()) for _ in range(count - 1))]
    with stage.database.transaction() as tx:
        approval = dict(tx.execute(select(approvals)).mappings().one())
        turn = dict(tx.execute(select(turns)).mappings().one()) | {
            "state": "ended",
            "outcome": "deadline_passed",
        }
        tx.execute(turns.delete())
        tx.execute(approvals.insert(), [approval | {"id": one} for one in ids[1:]])
        tx.execute(turns.insert(), [turn | {"id": one, "ended_at_ms": at} for at, one in enumerate(ids)])
    return ids


def told(stage: SupportStage) -> int:
    """How many results the customer can read."""
    with stage.database.transaction() as tx:
        return len(tx.execute(select(entries.c.id).where(entries.c.kind == "refund")).all())


@pytest.mark.fault(299)
def test_all_that_broke_off_at_once_are_told_however_many_there_are(stage: SupportStage) -> None:
    count = MAX_BROKEN_OFF + MORE
    break_off(stage, count)
    assert [stage.approval_desk.tell_broken_off() for _ in range(3)] == [MAX_BROKEN_OFF, MORE, 0]
    assert told(stage) == count


@pytest.mark.fault(299)
def test_those_that_broke_off_first_are_told_first(stage: SupportStage) -> None:
    ids = break_off(stage, MAX_BROKEN_OFF + MORE)
    assert [one.approval.id for one in stage.approvals.broken_off()] == ids[:MAX_BROKEN_OFF]
