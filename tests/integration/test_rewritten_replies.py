"""What a rewording may not touch: the line about money, and what the ledger backs."""

import pytest

from refund_agent.adapters.sql_database import Database
from refund_agent.outcomes import Unknown
from refund_agent.ports import CompletionAnswer
from refund_agent.rewriting import Rewriter
from refund_agent.turn import TurnRecord
from tests.fakes import FakeModel, calls_refund, fails, says
from tests.support_stage import SupportStage, reply_of

ADA = "cust-ada"


class Rewritten(SupportStage):
    """A stage whose replies are put in the words of `in_words`."""

    def refund(self, in_words: CompletionAnswer) -> TurnRecord:
        words = FakeModel(in_words)
        self.rewriter = Rewriter(
            model=words, turns=self.turns, clock=self.clock, completion_timeout_seconds=20.0
        )
        return self.say(
            "Refund ORD-1001, please.",
            calls_refund("ORD-1001", 4_999),
            says("issue_refund has answered."),
            conversation_id=self.open(ADA),
            customer_id=ADA,
        )


@pytest.fixture
def stage(database: Database) -> Rewritten:
    built = Rewritten(database)
    built.plant()
    return built


STATUS = "Refund sent: 49.99 EUR for order ORD-1001. Reference: re-1, status: succeeded."


def test_the_line_made_from_the_ledger_stands_after_the_new_words(stage: Rewritten) -> None:
    turn = stage.refund(says("It is all done for you."))
    assert reply_of(turn) == f"It is all done for you.\n\n{STATUS}"
    assert turn.completions_used == 3


def test_a_rewording_that_fails_leaves_the_deterministic_form(stage: Rewritten) -> None:
    assert reply_of(stage.refund(fails("HTTP 500"))) == f"the refund has answered.\n\n{STATUS}"


def test_new_words_are_checked_against_the_ledger_like_any(stage: Rewritten) -> None:
    stage.payments.ends(Unknown("ReadTimeout"))
    reply = reply_of(stage.refund(says("Your money is on its way. See the order_id.")))
    assert "on its way" not in reply
    assert "order_id" not in reply
    assert "Refund not certain yet: 49.99 EUR for order ORD-1001" in reply


def test_no_second_completion_is_made_unless_it_is_asked_for(stage: Rewritten) -> None:
    turn = stage.say("Hello", says("Good day."), conversation_id=stage.open(ADA), customer_id=ADA)
    assert (reply_of(turn), turn.completions_used) == ("Good day.", 1)
