"""The operator's commands while the database is away: a sentence that says what is certain, no traceback."""

import pytest
from flask import Flask
from flask.testing import FlaskCliRunner

from refund_agent.adapters.sql_approvals import SqlApprovals
from refund_agent.adapters.sql_conversations import SqlConversations
from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_inspection import SqlInspection
from refund_agent.approval_desk import ApprovalDesk
from refund_agent.inspection import PersonsAnswer, ResolveAnswer
from refund_agent.outcomes import Unknown
from refund_agent.ports import StoreUnavailable
from tests.fakes import FakeQueue
from tests.integration.conftest import Stores
from web import commands, commands_approvals

AWAY = Database("postgresql://nobody@127.0.0.1:1/none")
RESOLVE = ("refunds", "resolve", "--moved", "--by", "ann", "--note", "seen", "--reference", "rf-9")


def runner(inspection: SqlInspection) -> FlaskCliRunner:
    app = Flask("test")
    commands.install(app, inspection)
    desk = ApprovalDesk(SqlApprovals(AWAY), SqlConversations(AWAY), FakeQueue())
    commands_approvals.install(app, desk)
    return app.test_cli_runner()


@pytest.mark.parametrize(
    "args",
    [
        ["turns", "ls"],
        ["turns", "stuck"],
        ["turns", "show", "t-1"],
        ["turns", "tail"],
        ["refunds", "unknown"],
        ["approvals", "ls"],
        ["approvals", "show", "a-1"],
    ],
)
def test_a_look_while_the_database_is_away_says_so_and_that_nothing_was_changed(args: list[str]) -> None:
    result = runner(SqlInspection(AWAY)).invoke(args=args)

    assert (result.exit_code, result.output) == (
        1,
        "Error: the database cannot be asked now. Nothing was changed.\n",
    )


class LosesAnswers(SqlInspection):
    """Saves, and does not learn that it did."""

    def resolve(self, turn_id: str, answer: PersonsAnswer) -> ResolveAnswer:
        super().resolve(turn_id, answer)
        raise StoreUnavailable("OperationalError")


def test_a_resolution_whose_answer_was_lost_may_have_been_saved_and_the_operator_reads_where_to_look(
    stores: Stores,
) -> None:
    turn, claim = stores.claimed()
    stores.ledger.settle(claim, epoch=turn.epoch, answer=Unknown("ReadTimeout"))

    result = runner(LosesAnswers(stores.database)).invoke(args=[*RESOLVE, turn.id])

    assert result.exit_code == 1
    assert (
        "It may have been saved: look again with `flask refunds unknown`; nothing was sent" in result.output
    )
    assert "Nothing was changed" not in result.output
    looked = runner(SqlInspection(stores.database)).invoke(args=["refunds", "unknown"])
    assert looked.output == "0 unknown\n"


def test_what_expired_while_the_answer_was_lost_is_not_said_to_be_unchanged() -> None:
    result = runner(SqlInspection(AWAY)).invoke(args=["approvals", "expire"])

    assert result.exit_code == 1
    assert "Some may have expired all the same: run it again; nothing was sent" in result.output
