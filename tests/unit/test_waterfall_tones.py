"""What did not go well never looks as if it had, and says so in words as well as by its colour."""

from dataclasses import replace
from typing import Final

import pytest

from refund_agent.outcomes import GateState, RefundRecord, Replied
from refund_agent.timeline import Step, Timeline
from refund_agent.turn import TurnRecord
from refund_agent.turn_steps import ClaimTried, Completion, Judged, Lapsed, Sent, ToolUse, Unattended, What
from web.console.step_words import name_step
from web.console.waterfall import Row, draw

PAID: Final = RefundRecord("t-1", "paid", "A1", 500, "1.0", "rf_1", "succeeded")
WANTED: Final = ToolUse("1.0", "issue_refund", "{}", '{"error": "no clear answer"}', ok=False)


def sent(state: GateState) -> Sent:
    return Sent(replace(PAID, state=state))


def claim(answer: str) -> ClaimTried:
    return ClaimTried("1.0", "A1", 500, answer)


def rows(*whats: What, refund: RefundRecord | None) -> tuple[Row, ...]:
    record = TurnRecord("t-1", "ended", 0, 120_000, epoch=1, outcome=Replied("Done."), refund=refund)
    timeline = Timeline(
        record=record,
        steps=tuple(Step(what, 10, 20) for what in whats),
        deadline_ms=120_000,
        now_ms=9_000,
        ended_ms=2_000,
        workers=1,
        tokens_used=0,
        cost_microdollars=None,
        is_recorded=True,
        worker_is_silent=False,
    )
    return draw(timeline).rows


@pytest.mark.parametrize(
    ("what", "tone", "says"),
    [
        (sent("unknown"), "doubt", "not known"),
        (sent("claimed"), "doubt", "being asked"),
        (sent("rejected"), "bad", "rejected"),
        (sent("not_sent"), "bad", "not sent"),
        (Lapsed(), "doubt", "unknown"),
        (claim("already_decided"), "bad", "Not sent"),
        (claim("order_busy"), "doubt", "Not sent"),
        (claim("refused_by_policy"), "doubt", "Not sent"),
        (claim("superseded"), "", "Not sent"),
        (Completion(1, problem="HTTP 500"), "bad", "failed"),
        (Completion(1, timed_out=True), "bad", "timed out"),
        (Completion(1, truncated=True), "doubt", "cut short"),
        (ToolUse("1.0", "get_order", "{}", ok=False), "bad", "error"),
        (Judged("1.0", "denied", "2026-11"), "bad", "denied"),
        (Judged("1.0", "escalated", "2026-11"), "doubt", "a person must decide"),
        (Unattended(1), "doubt", "lost"),
    ],
    ids=lambda case: type(case).__name__ if not isinstance(case, str) else case or "neutral",
)
def test_what_did_not_go_well_has_a_tone_and_a_word_for_it(what: What, tone: str, says: str) -> None:
    name, _, told = name_step(what)
    assert told == tone
    assert says in name


def test_money_is_good_news_only_once_it_was_paid() -> None:
    whats = (sent("paid"), sent("claimed"), claim("claimed"), claim("superseded"), claim("something new"))
    assert [name_step(what)[2] == "good" for what in whats] == [True, False, False, False, False]


def test_a_tool_whose_refund_is_in_doubt_is_in_doubt_and_has_not_failed() -> None:
    (row,) = rows(WANTED, refund=replace(PAID, state="unknown"))
    assert (row.name, row.tone) == ("Wanted to refund: no clear answer", "doubt")


@pytest.mark.parametrize("refund", [replace(PAID, state="rejected"), None], ids=["rejected", "none"])
def test_a_tool_that_was_answered_with_an_error_says_so(refund: RefundRecord | None) -> None:
    (row,) = rows(WANTED, refund=refund)
    assert (row.name, row.tone) == ("Wanted to refund: answered with an error", "bad")


def test_another_tool_than_the_one_in_doubt_keeps_its_own_word() -> None:
    other = ToolUse("2.0", "get_order", "{}", ok=True)
    (row,) = rows(other, refund=replace(PAID, state="unknown"))
    assert (row.name, row.tone) == ("Looked up an order", "")
