"""What is old is forgotten, conversation by conversation; money and what is still open never are."""

import os
import signal
import uuid
from typing import Any

import pytest
import redis
from flask import Flask
from flask.testing import FlaskCliRunner
from sqlalchemy import Table, func, insert, select, update

from refund_agent.adapters import sql_retention
from refund_agent.adapters.redis_presence import RedisPresence
from refund_agent.adapters.sql_approvals import SqlApprovals
from refund_agent.adapters.sql_conversations import SqlConversations
from refund_agent.adapters.sql_database import now_ms
from refund_agent.adapters.sql_inspection import SqlInspection
from refund_agent.adapters.sql_retention import DAY_MS, SqlRetention
from refund_agent.adapters.sql_support_tables import approvals, conversations, entries, events
from refund_agent.adapters.sql_tables import refunds, resolutions, turns
from refund_agent.adapters.system_figures import SystemFigures
from refund_agent.approvals import NewApproval
from refund_agent.conversations import Entry
from refund_agent.inspection import PersonsAnswer
from refund_agent.outcomes import CallPosition, Claimed, Paid, PaymentAnswer, Replied, Unknown
from refund_agent.retention import Batch, Place, Tally
from refund_agent.turn import NewTurn, Turn
from tests.integration.conftest import Stores
from tests.support_stage import open_conversation
from web import commands_retention

OLD_DAYS = 400
PAID = Paid("rf-1", "succeeded", 500)


class Past:
    """Conversations and turns as they were left long ago."""

    def __init__(self, stores: Stores) -> None:
        self.stores = stores
        self.conversations = SqlConversations(stores.database)

    def conversation(self) -> str:
        """One old conversation with an entry."""
        found = open_conversation(self.stores.database, "cust-ada")
        self.conversations.add(found, Entry("staff", "ann", "Good morning"))
        self.ages(conversations, id=found, updated_at_ms=now_ms() - OLD_DAYS * DAY_MS)
        return found

    def turn(
        self, conversation_id: str = "", *, answer: PaymentAnswer | None = None, order: str = "A1"
    ) -> Turn:
        """One old ended turn with an event, and a refund that payments answered so."""
        new = NewTurn(
            str(uuid.uuid4()), "cust-ada", "hi", "r", agent="support", conversation_id=conversation_id
        )
        self.stores.turns.create(new)
        turn = self.stores.turns.begin(new.id, owner="w1")
        assert turn is not None
        if answer is not None:
            claim = self.stores.ledger.claim(turn, call=CallPosition(1, 0), order_id=order, amount_cents=500)
            assert isinstance(claim, Claimed)
            self.stores.ledger.settle(claim.record, epoch=turn.epoch, answer=answer)
        self.stores.turns.end(turn, Replied("done"))
        with self.stores.database.transaction() as tx:
            event = {"turn_id": turn.id, "seq": 1, "kind": "x", "body": "{}", "at_ms": now_ms()}
            tx.execute(insert(events).values(event))
        self.ages(turns, id=turn.id, ended_at_ms=now_ms() - OLD_DAYS * DAY_MS)
        self.ages(conversations, id=conversation_id, updated_at_ms=now_ms() - OLD_DAYS * DAY_MS)
        return turn

    def approval(self, turn_id: str, conversation_id: str) -> str:
        new = NewApproval(turn_id, conversation_id, "cust-ada", "A9", 50001, "much", "2026-11", 9999)
        made = SqlApprovals(self.stores.database).request(new)
        self.ages(conversations, id=conversation_id, updated_at_ms=now_ms() - OLD_DAYS * DAY_MS)
        return made.id

    def ages(self, table: Table, *, id: str, **values: Any) -> None:  # noqa: A002 - the column's name
        with self.stores.database.transaction() as tx:
            tx.execute(update(table).where(table.c.id == id).values(values))

    def left(self) -> dict[str, int]:
        tables = (conversations, entries, turns, events, refunds, resolutions, approvals)
        with self.stores.database.transaction() as tx:
            return {
                table.name: count
                for table in tables
                if (count := tx.execute(select(func.count()).select_from(table)).scalar_one())
            }


@pytest.fixture
def past(stores: Stores) -> Past:
    return Past(stores)


@pytest.fixture
def flask(stores: Stores) -> FlaskCliRunner:
    app = Flask("test")
    commands_retention.install(app, SqlRetention(stores.database), default_days=365)
    return app.test_cli_runner()


def purge(flask: FlaskCliRunner, *args: str) -> str:
    result = flask.invoke(args=["conversations", "purge", *args])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_an_old_conversation_goes_with_all_that_was_said_in_it_and_its_refund_stays(
    past: Past, flask: FlaskCliRunner
) -> None:
    conversation = past.conversation()
    past.turn(conversation, answer=PAID)
    past.turn(conversation)
    past.ages(conversations, id=conversation, updated_at_ms=now_ms() - OLD_DAYS * DAY_MS)
    output = purge(flask)
    assert output.startswith("Deleted: 1 conversations with 1 entries, 2 turns with 2 events")
    assert past.left() == {"refunds": 1}


def test_a_turn_of_refund_chat_goes_by_its_own_age(past: Past, flask: FlaskCliRunner) -> None:
    past.turn(answer=PAID)
    young = past.turn()
    past.ages(turns, id=young.id, ended_at_ms=now_ms() - 364 * DAY_MS)
    purge(flask)
    assert past.left() == {"turns": 1, "events": 1, "refunds": 1}
    purge(flask, "--older-than-days", "363")
    assert past.left() == {"refunds": 1}


@pytest.mark.parametrize("in_a_conversation", [True, False])
def test_what_metrics_count_does_not_fall_when_turns_are_forgotten(
    past: Past, flask: FlaskCliRunner, redis_client: redis.Redis, *, in_a_conversation: bool
) -> None:
    figures = SystemFigures(past.stores.database, redis_client, web=RedisPresence(redis_client, kind="web"))
    past.turn(past.conversation() if in_a_conversation else "", answer=PAID)
    past.stores.turns.end(past.stores.running(), Replied("a moment ago"))
    before = figures.stored()
    purge(flask)
    assert past.left()["turns"] == 1
    after = figures.stored()
    assert after.turns_by_outcome == before.turns_by_outcome == {"replied": 2}
    assert after.durations == before.durations
    purge(flask)
    assert figures.stored().durations == before.durations, "and are not counted twice"


def test_one_recent_word_keeps_the_whole_conversation(past: Past, flask: FlaskCliRunner) -> None:
    conversation = past.conversation()
    past.turn(conversation)
    past.conversations.add(conversation, Entry("staff", "ann", "still there?"))
    assert purge(flask).startswith("Deleted: 0 conversations")
    assert past.left() == {"conversations": 1, "conversation_entries": 2, "turns": 1, "events": 1}


def test_an_unknown_refund_keeps_its_conversation_until_a_person_has_answered(
    past: Past, flask: FlaskCliRunner
) -> None:
    conversation = past.conversation()
    turn = past.turn(conversation, answer=Unknown("ReadTimeout"))
    lone = past.turn(answer=Unknown("ReadTimeout"), order="A2")
    purge(flask)
    assert past.left() == {
        "conversations": 1,
        "conversation_entries": 1,
        "turns": 2,
        "events": 2,
        "refunds": 2,
    }
    inspection = SqlInspection(past.stores.database)
    for turn_id in (turn.id, lone.id):
        past.stores.age_claim(turn_id)
        inspection.resolve(
            turn_id, PersonsAnswer(money_moved=False, resolved_by="ann", note="x", reference="")
        )
    purge(flask)
    assert past.left()["conversations"] == 1, "the answer was told in it, so it is young again"
    past.ages(conversations, id=conversation, updated_at_ms=now_ms() - OLD_DAYS * DAY_MS)
    purge(flask)
    assert past.left() == {"refunds": 2, "resolutions": 2}


def test_a_pending_approval_keeps_its_conversation_and_a_decided_one_stays_when_that_goes(
    past: Past, flask: FlaskCliRunner
) -> None:
    conversation = past.conversation()
    turn = past.turn(conversation)
    approval = past.approval(turn.id, conversation)
    purge(flask)
    assert past.left() == {
        "conversations": 1,
        "conversation_entries": 2,
        "turns": 1,
        "events": 1,
        "approvals": 1,
    }
    desk = SqlApprovals(past.stores.database)
    desk.decide(approval, approve=True, by="ann", note="ok")
    purge(flask)  # its refund has not been sent yet
    assert past.left()["conversations"] == 1
    sender = past.stores.turns.begin(approval, owner="w1")
    assert sender is not None
    past.stores.turns.end(sender, Replied("sent"))
    past.ages(conversations, id=conversation, updated_at_ms=now_ms() - OLD_DAYS * DAY_MS)
    purge(flask)
    assert past.left() == {"turns": 1, "approvals": 1}


def test_a_turn_that_runs_keeps_its_conversation(past: Past, flask: FlaskCliRunner) -> None:
    conversation = past.conversation()
    new = NewTurn(str(uuid.uuid4()), "cust-ada", "hi", "r", agent="support", conversation_id=conversation)
    past.stores.turns.create(new)
    purge(flask)
    assert past.left() == {"conversations": 1, "conversation_entries": 1, "turns": 1}


def test_a_dry_run_counts_the_same_and_deletes_nothing(past: Past, flask: FlaskCliRunner) -> None:
    for _ in range(3):
        past.turn(past.conversation())
    past.turn()
    before = past.left()
    counted = purge(flask, "--dry-run")
    assert counted.startswith("Would delete: 3 conversations with 3 entries, 4 turns with 4 events")
    assert past.left() == before
    assert purge(flask).split(": ")[1] == counted.split(": ")[1]


def test_it_goes_in_batches_and_tells_how_far_it_is(
    past: Past, flask: FlaskCliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql_retention, "CONVERSATIONS_PER_STEP", 2)
    for _ in range(5):
        past.conversation()
    result = flask.invoke(args=["conversations", "purge"])
    assert [line.split()[3] for line in result.stderr.splitlines()] == ["2", "4", "5"]
    assert past.left() == {}


def test_ctrl_c_ends_it_after_the_batch_at_hand_and_says_what_was_done() -> None:
    class Interrupted:
        calls = 0

        def conversations(self, **_: object) -> Batch:
            self.calls += 1
            os.kill(os.getpid(), signal.SIGINT)
            return Batch(Tally(20, 40, 80, 10), Place(1, "c"))

        lone_turns = conversations

    retention, before = Interrupted(), signal.getsignal(signal.SIGINT)
    app = Flask("test")
    commands_retention.install(app, retention, default_days=365)
    result = app.test_cli_runner().invoke(args=["conversations", "purge"])
    assert result.exit_code == 130
    assert "Stopped. Deleted until then: 20 conversations with 10 entries" in result.stdout
    assert retention.calls == 1
    assert signal.getsignal(signal.SIGINT) is before
