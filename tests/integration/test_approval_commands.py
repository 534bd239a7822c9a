"""`flask approvals` says what was and what was not done; a decision is saved once."""

import uuid
from dataclasses import dataclass, field

import pytest
from flask import Flask
from flask.testing import FlaskCliRunner
from sqlalchemy import update

from refund_agent.adapters.sql_approvals import SqlApprovals
from refund_agent.adapters.sql_conversations import SqlConversations
from refund_agent.adapters.sql_support_tables import approvals
from refund_agent.approval_desk import ApprovalDesk
from refund_agent.approvals import Approval, NewApproval
from refund_agent.ports import StoreUnavailable
from tests.integration.conftest import Stores
from tests.support_stage import open_conversation
from web import commands_approvals

BY = ["--by", "ann", "--note", "seen the photos"]


@dataclass
class Messages:
    """A queue that keeps what was put."""

    put_ids: list[str] = field(default_factory=list)

    def put(self, turn_id: str) -> None:
        self.put_ids.append(turn_id)

    def is_empty(self) -> bool:
        return not self.put_ids


class Desk:
    def __init__(self, stores: Stores) -> None:
        self.stores, self.queue = stores, Messages()
        self.conversations = SqlConversations(stores.database)
        self.desk = ApprovalDesk(SqlApprovals(stores.database), self.conversations, self.queue)
        app = Flask("test")
        commands_approvals.install(app, self.desk)
        self.runner: FlaskCliRunner = app.test_cli_runner()

    def waiting(self, order_id: str = "ORD-1005") -> Approval:
        new = NewApproval(
            turn_id=str(uuid.uuid4()),
            conversation_id=open_conversation(self.stores.database, "cust-ada"),
            customer_id="cust-ada",
            order_id=order_id,
            amount_cents=50001,
            reason="more than 500.00 needs a colleague",
            policy_version="2026-11",
            expiry_days=7,
        )
        return self.desk.approvals.request(new)

    def is_due(self, approval: Approval) -> None:
        with self.stores.database.transaction() as tx:
            tx.execute(update(approvals).where(approvals.c.id == approval.id).values(expires_at_ms=1))

    def run(self, *args: str) -> tuple[int, str]:
        result = self.runner.invoke(args=["approvals", *args])
        return result.exit_code, result.output

    def said(self, approval: Approval) -> list[str]:
        return [line.text for line in self.conversations.lines(approval.conversation_id)]


@pytest.fixture
def desk(stores: Stores) -> Desk:
    return Desk(stores)


def test_what_waits_is_listed_and_shown_with_its_facts(desk: Desk) -> None:
    approval = desk.waiting()
    code, listed = desk.run("ls")
    assert (code, approval.id in listed, "1 pending" in listed) == (0, True, True)
    assert desk.run("ls", "--state", "approved") == (0, "0 approved\n")
    _, shown = desk.run("show", approval.id)
    for fact in (
        '"ORD-1005"',
        "50001 cents",
        '"cust-ada"',
        "2026-11",
        "more than 500.00",
        "intact        yes",
    ):
        assert fact in shown
    assert desk.run("show", "no-such") == (1, "Error: there is no approval no-such\n")


def test_approving_queues_one_turn_and_says_that_nothing_is_sent_yet(desk: Desk) -> None:
    approval = desk.waiting()
    code, output = desk.run("approve", approval.id, *BY)
    assert (code, "queued, once, and not sent yet" in output) == (0, True)
    assert desk.queue.put_ids == [approval.id]
    assert desk.stores.turns.find(approval.id) is not None
    code, output = desk.run("approve", approval.id, "--by", "bob", "--note", "me too")
    assert (code, "already approved by ann: seen the photos. Nothing was changed" in output) == (1, True)
    assert desk.queue.put_ids == [approval.id]
    assert "decided by    ann" in desk.run("show", approval.id)[1]


def test_declining_sends_nothing_and_the_customer_reads_the_note(desk: Desk) -> None:
    approval = desk.waiting()
    code, output = desk.run("decline", approval.id, *BY)
    assert (code, "Nothing was sent" in output) == (0, True)
    assert desk.queue.put_ids == []
    assert desk.stores.turns.find(approval.id) is None
    assert "seen the photos" in desk.said(approval)[-1]


def test_the_requester_may_not_decide(desk: Desk) -> None:
    approval = desk.waiting()
    code, output = desk.run("approve", approval.id, "--by", "cust-ada", "--note", "please")
    assert (code, "may not decide about it. Nothing was changed" in output) == (1, True)
    assert desk.queue.put_ids == []


@pytest.mark.parametrize(
    "args", [[], ["--by", "ann"], ["--by", " ", "--note", "x"], ["--by", "a", "--note", ""]]
)
def test_a_decision_needs_who_and_why(desk: Desk, args: list[str]) -> None:
    approval = desk.waiting()
    assert desk.run("approve", approval.id, *args)[0] == 2
    assert desk.run("ls")[1].endswith("1 pending\n")


@pytest.mark.parametrize("args", [["--by", "a\udcff", "--note", "x"], ["--by", "a", "--note", "\udcffx"]])
def test_a_decision_in_bytes_that_are_no_text_is_refused(desk: Desk, args: list[str]) -> None:
    approval = desk.waiting()
    code, output = desk.run("decline", approval.id, *args)
    assert (code, "must not contain a lone surrogate" in output) == (2, True)
    assert desk.run("ls")[1].endswith("1 pending\n")


def test_what_waited_too_long_expires_and_can_no_longer_be_approved(desk: Desk) -> None:
    approval = desk.waiting()
    desk.is_due(approval)
    code, output = desk.run("approve", approval.id, *BY)
    assert (code, "its time is over" in output) == (1, True)
    assert "1 expired" in desk.run("expire")[1]
    assert "0 expired" in desk.run("expire")[1]
    assert "already expired. Nothing was changed" in desk.run("approve", approval.id, *BY)[1]
    assert desk.queue.put_ids == []
    assert "expired" in desk.said(approval)[-1]


def test_a_decision_that_may_not_be_saved_is_said_to_be_uncertain(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("OperationalError")

    monkeypatch.setattr(SqlApprovals, "decide", away)
    code, output = desk.run("approve", desk.waiting().id, *BY)
    assert (code, "not certain whether the decision was saved" in output) == (1, True)


def test_without_a_support_agent_the_commands_say_so() -> None:
    app = Flask("test")
    commands_approvals.install(app, None)
    result = app.test_cli_runner().invoke(args=["approvals", "ls"])
    assert (result.exit_code, "the support agent is off here" in result.output) == (1, True)
