"""The judge of the kill matrix is judged: hand-made evidence, each with the objection it must raise."""

from dataclasses import replace
from typing import Any

import pytest

from tests.chaos.caller import Told, Word
from tests.chaos.judge import Evidence, objections, unaccounted

OWN, OTHER, UNSTORED = "turn-1", "turn-2", "turn-never-stored"


def told(status: int, word: Word, turn_id: str = OWN, *, seconds: float = 1.0) -> Told:
    """Build one answer."""
    return Told(status, word, turn_id, seconds)


def turn(turn_id: str = OWN, **changes: Any) -> dict[str, Any]:
    """Build the row of a turn that ended a second after it was stored."""
    return {
        "id": turn_id,
        "state": "ended",
        "outcome": "replied",
        "reason": None,
        "created_at_ms": 0,
        "deadline_at_ms": 28_000,
        "ended_at_ms": 1_000,
        "completions_used": 2,
        **changes,
    }


def cell(gate: str, word: Word, *, posts: int, movements: int, **changes: Any) -> Evidence:
    """Build a cell of one turn, whose caller, retry and page are told the same."""
    said = told(200, word)
    evidence = Evidence(
        first=said,
        later=(said, said),
        turns=(turn(),),
        gates={OWN: gate},
        made={OWN: 2},
        movements=movements,
        posts=posts,
        web_died=False,
        outage_seconds=0.0,
    )
    return replace(evidence, **changes)


NOTHING = cell("", "nothing", posts=0, movements=0)
PAID = cell("paid", "paid", posts=1, movements=1)
REFUSED = cell("rejected", "rejected", posts=1, movements=0)
NOT_SENT = cell("not_sent", "not_sent", posts=0, movements=0)
UNKNOWN = cell("unknown", "unknown", posts=0, movements=0)
SAID_PAID, SAID_NOTHING, BROKE = told(200, "paid"), told(200, "nothing"), Told(0, "not told", "", 1.0)
KEY_UNREADABLE = told(503, "unknown", UNSTORED)
NOT_QUEUED = told(503, "nothing")
TWO_TURNS: dict[str, Any] = {
    "turns": (turn(outcome="not_accepted"), turn(OTHER)),
    "gates": {OWN: "closed", OTHER: "paid"},
    "made": {OTHER: 2},
}


@pytest.mark.parametrize(
    "evidence",
    [
        pytest.param(NOTHING, id="nothing was sent"),
        pytest.param(replace(NOTHING, gates={OWN: "closed"}), id="the gate was closed"),
        pytest.param(PAID, id="paid once"),
        pytest.param(REFUSED, id="rejected by payments"),
        pytest.param(NOT_SENT, id="never reached payments"),
        pytest.param(UNKNOWN, id="unknown, nothing arrived"),
        pytest.param(replace(UNKNOWN, posts=1), id="unknown, asked and not moved"),
        pytest.param(replace(UNKNOWN, posts=1, movements=1), id="unknown, moved"),
        pytest.param(replace(PAID, first=told(504, "unknown")), id="paid, told unknown"),
        pytest.param(replace(PAID, first=BROKE, web_died=True), id="the web died"),
        pytest.param(replace(PAID, first=KEY_UNREADABLE), id="no database for the first request"),
        pytest.param(
            replace(PAID, later=(KEY_UNREADABLE, SAID_PAID)), id="no database for the retry of a paid one"
        ),
        pytest.param(
            replace(NOTHING, later=(KEY_UNREADABLE, SAID_NOTHING)), id="no database for the retry of nothing"
        ),
        pytest.param(
            replace(NOTHING, first=told(503, "nothing", UNSTORED)),
            id="told 503 of a turn that was not stored",
        ),
        pytest.param(
            replace(
                PAID,
                first=NOT_QUEUED,
                later=(told(200, "paid", OTHER), SAID_NOTHING, told(200, "paid", OTHER)),
                **TWO_TURNS,
            ),
            id="the first never ran, the retry was a turn of its own",
        ),
        pytest.param(replace(PAID, exit_codes=(0, -9)), id="stopped, and killed after its grace"),
    ],
)
def test_true_evidence_raises_no_objection(evidence: Evidence) -> None:
    assert objections(evidence) == []


@pytest.mark.parametrize(
    ("evidence", "objection"),
    [
        # the money
        (replace(NOTHING, posts=1), "1 refund requests arrived, for 0 answered and 0 unknown refunds"),
        (replace(NOT_SENT, posts=1), "1 refund requests arrived, for 0 answered and 0 unknown refunds"),
        (replace(PAID, posts=0), "0 refund requests arrived, for 1 answered and 0 unknown refunds"),
        (replace(REFUSED, posts=0), "0 refund requests arrived, for 1 answered and 0 unknown refunds"),
        (replace(UNKNOWN, posts=2), "2 refund requests arrived"),
        (replace(PAID, movements=2), "money moved 2 times"),
        (replace(PAID, movements=0), "money moved 0 times, the ledger says 1 paid and 0 unknown"),
        (replace(NOTHING, movements=1), "money moved 1 times, the ledger says 0 paid and 0 unknown"),
        (replace(UNKNOWN, gates={OWN: "claimed"}), "a claim is open for ever"),
        # what the waiting caller was told
        (replace(PAID, first=SAID_NOTHING), "told 200 nothing, but the refund is paid"),
        (replace(NOTHING, first=SAID_PAID), "told 200 paid, but the refund is none"),
        (replace(UNKNOWN, first=SAID_PAID), "told 200 paid, but the refund is unknown"),
        (replace(PAID, first=BROKE), "the waiting caller got no answer"),
        (replace(PAID, first=told(200, "paid", seconds=40.0)), "the waiting caller was answered after 40 s"),
        (
            replace(PAID, first=told(200, "paid", seconds=9.0)),
            "the turn took 1 s, and the caller was told after 9 s",
        ),
        (
            replace(PAID, first=Told(500, "not told", OWN, 1.0, title="oh")),
            "the answer does not say what became of the refund: 500 oh",
        ),
        (
            replace(NOTHING, first=told(504, "nothing", UNSTORED)),
            "told 504 nothing of a turn that is not stored",
        ),
        (
            replace(NOTHING, first=told(500, "unknown", UNSTORED)),
            "told 500 unknown of a turn that is not stored",
        ),
        # what came later
        (
            replace(PAID, later=(BROKE, SAID_PAID)),
            "the retry was not told what became of the refund: connection broke",
        ),
        (
            replace(PAID, later=(told(503, "nothing", UNSTORED), SAID_PAID)),
            "the retry was told 503 nothing, but its key's refund is paid",
        ),
        (
            replace(UNKNOWN, later=(told(503, "nothing", UNSTORED), told(200, "unknown"))),
            "the retry was told 503 nothing, but its key's refund is unknown",
        ),
        (
            replace(PAID, later=(SAID_PAID, told(500, "not told"))),
            "the turn's own page does not tell: 500 not told",
        ),
        (
            replace(PAID, later=(SAID_PAID, told(404, "not told"))),
            "the turn's own page does not tell: 404 not told",
        ),
        (
            replace(PAID, later=(SAID_PAID, SAID_NOTHING)),
            "told 200 nothing, but the refund is paid",
        ),
        # the turns
        (replace(PAID, turns=(turn(state="running"),)), "a turn is running for ever"),
        (replace(PAID, turns=(turn(ended_at_ms=40_000),)), "a turn ended 12 s after its deadline"),
        (replace(PAID, turns=(turn(outcome="broken", reason="Bug"),)), "a turn broke: Bug"),
        (replace(PAID, made={OWN: 3}), "3 completions were made and 2 counted"),
        (replace(PAID, turns=(turn(completions_used=6),)), "2 completions were made and 6 counted"),
        # the processes
        (replace(PAID, exit_codes=(0, 1)), "a process that was told to stop ended with 1"),
        (replace(PAID, exit_codes=(-15,)), "a process that was told to stop ended with -15"),
        (replace(PAID, is_at_work=True), "a worker is at the turn for ever"),
    ],
)
def test_untrue_evidence_raises_its_objection(evidence: Evidence, objection: str) -> None:
    assert objection in objections(evidence)


def row(state: str, order_id: str = "A1", amount_cents: int = 500) -> dict[str, Any]:
    """Build one ledger row."""
    return {"state": state, "order_id": order_id, "amount_cents": amount_cents}


CLOSED = row("closed", "", 0)


@pytest.mark.parametrize(
    ("moved", "ledger"),
    [
        ([], []),
        ([], [CLOSED, row("rejected"), row("not_sent"), row("unknown")]),
        ([("A1", 500)], [CLOSED, row("paid")]),
        ([("A1", 500)], [row("unknown")]),
        ([("A1", 500), ("A1", 500)], [row("paid"), row("unknown")]),
    ],
)
def test_money_that_belongs_to_rows_is_accounted_for(
    moved: list[tuple[str, int]], ledger: list[dict[str, Any]]
) -> None:
    assert unaccounted(moved, ledger) == []


@pytest.mark.parametrize(
    ("moved", "ledger"),
    [
        pytest.param([("A1", 500)], [], id="no row"),
        pytest.param([("A1", 500)], [row("not_sent")], id="a row that says not sent"),
        pytest.param([("A1", 500)], [row("claimed")], id="a row that is still open"),
        pytest.param([("A1", 500)] * 2, [row("paid")], id="twice for one row"),
        pytest.param([("A1", 500)], [row("paid", "A2")], id="another order's row"),
        pytest.param([("A1", 900)], [row("unknown")], id="another amount"),
        pytest.param([], [row("paid")], id="paid, and nothing moved"),
    ],
)
def test_money_that_belongs_to_no_row_is_found(
    moved: list[tuple[str, int]], ledger: list[dict[str, Any]]
) -> None:
    assert unaccounted(moved, ledger) != []
