"""Every way in which payments can fail: the call's error, an honest ledger row, and never a second POST.

The turns run side by side, each for an order of its own; then each test looks at one of them.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
import requests

from sandbox.payment_modes import MODES
from sandbox.payments import Payments
from tests.functional.plays import tool_results
from tests.functional.stand import Row, Stand, turn_id

pytestmark = pytest.mark.timeout(150)  # seconds, for a busy machine

RECEIPTS = {
    "ok": "succeeded",
    "ok-201": "succeeded",
    "pending": "pending",
    "processing": "processing",
    "duplicate": "succeeded",
    "stale-keep-alive": "succeeded",
    "continue-then-ok": "succeeded",
}
BUSY_WITHOUT_JSON = {"425-html", "429-html"}
REFUSALS = {
    name for name in MODES if name.startswith(("reject", "detail-")) and name != "detail-missing"
} | BUSY_WITHOUT_JSON
LEFT_TO_CHANCE = {"flaky"}
UNKNOWNS = MODES.keys() - RECEIPTS.keys() - REFUSALS - LEFT_TO_CHANCE
MOVES = {"yes": 1, "no": 0, "late": 1, "twice": 2}
AT_ONCE = 8

ROWS: dict[str, tuple[int | str, ...]] = {
    "pending": ("4.0:pending",),
    "ok-201": (230,),
    "continue-then-ok": (215,),
    "reject": ("4.0:rejected", 232),
    "reject-401": (236,),
    "reject-403": (236,),
    "429-html": ("4.0:busy",),
    "422-html": ("4.0:rejected-not-json",),
    "408": ("4.0:ambiguous-4xx", 237),
    "409": (237,),
    "500": ("4.0:5xx", 239),
    "503": (240,),
    "504-html": (239,),
    "detail-secret": (235,),
    "detail-trace": (235,),
    "accept-then-hang": ("4.0:answer-lost", 203),
    "hang": (205,),
    "reset-on-accept": (199,),
    "reset-after-request": (200,),
    "drip-headers": (206,),
    "cut-content-length": (208,),
    "cut-chunked": (209,),
    "huge": (212,),
    "gzip-bomb": (212,),
    "bad-gzip": (213,),
    "unknown-encoding": (213,),
    "continue-then-nothing": ("4.0:1xx",),
    "redirect-303": ("4.0:redirect",),
    "redirect-307": (217,),
    "redirect-308-away": (219,),
    "202": ("4.0:other-2xx", 231),
    "204": (231,),
    "206": (231,),
    "garbage-html": ("4.0:mismatch", 220),
    "garbage-empty": (220,),
    "garbage-deep": (222,),
    "garbage-bigint": (222,),
    "garbage-detail": (227,),
    "amount-other": (224,),
    "amount-string": (224,),
    "amount-float": (224,),
    "amount-true": (224,),
    "refund-id-empty": (225,),
    "refund-id-10kB": (225,),
    "status-failed": (226,),
}


@dataclass(frozen=True)
class Played:
    """One mode, and what every side saw of its turn."""

    answer: requests.Response
    told: dict[str, Any]
    row: Row
    posts: int
    moved: int


@pytest.fixture(scope="module")
def played(running_stand: Stand) -> dict[str, Played]:
    """Play every mode once, and give what came of each."""
    stand = running_stand
    stand.forget()
    names = [name for name in MODES if name not in LEFT_TO_CHANCE]
    orders = [f"ORD-{number}" for number in range(len(names))]
    stand.payments.will(*names)
    stand.payments.pace.late_seconds = 0.1
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda order: stand.chat(f"refund 5.00 for order {order}"), orders))
    assert stand.payments.request_count == len(names)
    assert stand.payments.wait_for_moved(sum(MOVES[MODES[name].moves] for name in names))
    mode_of = _modes_by_order(stand.payments, orders)
    told = _told_by_order(stand)
    return {
        mode_of[order]: Played(
            answer=answer,
            told=told[order],
            row=_gate(stand, answer),
            posts=_posts(stand.payments, order),
            moved=stand.payments.moved.count((order, 500)),
        )
        for order, answer in zip(orders, answers, strict=True)
    }


def modes(names: "set[str] | dict[str, str]") -> list[Any]:
    """Give the modes as parameters, each marked with the rows of the fault table that it plays."""
    return [
        pytest.param(name, marks=pytest.mark.fault(*ROWS[name])) if name in ROWS else name
        for name in sorted(names)
    ]


@pytest.mark.contract("C2", "C28", "C29", "C31", "C67", "C68")
@pytest.mark.parametrize("mode", modes(REFUSALS | UNKNOWNS))
def test_a_failure_is_the_calls_error_and_is_never_sent_again(played: dict[str, Played], mode: str) -> None:
    turn = played[mode]

    assert turn.answer.status_code == 200
    assert turn.answer.json().keys() == {"reply"}
    assert turn.told.keys() == {"error"}
    assert turn.posts == 1
    assert turn.moved == MOVES[MODES[mode].moves]
    assert turn.row["state"] == ("rejected" if mode in REFUSALS else "unknown")


@pytest.mark.contract("C34", "C65")
@pytest.mark.fault("4.0:receipt")
@pytest.mark.parametrize("mode", modes(RECEIPTS))
def test_a_receipt_that_matches_is_told_as_it_is(played: dict[str, Played], mode: str) -> None:
    turn = played[mode]

    assert turn.answer.status_code == 200
    assert turn.told == {
        "refund_id": turn.row["refund_id"],
        "status": RECEIPTS[mode],
        "amount_cents": 500,
    }
    assert (turn.posts, turn.moved) == (1, MOVES[MODES[mode].moves])
    assert turn.row["state"] == "paid"


@pytest.mark.contract("C82")
@pytest.mark.parametrize("mode", modes(UNKNOWNS))
def test_an_unknown_outcome_is_never_told_as_a_failure(played: dict[str, Played], mode: str) -> None:
    told = played[mode].told["error"]

    assert "outcome unknown" in told
    assert "not promise" in told
    assert "fail" not in told.lower()


@pytest.mark.contract("C66", "C67")
def test_a_rejections_detail_is_told_to_the_model(played: dict[str, Played]) -> None:
    assert "amount exceeds what was paid" in played["reject-422"].told["error"]


@pytest.mark.fault(235)
@pytest.mark.parametrize("mode", ["detail-secret", "detail-trace", "detail-10kB", "detail-control"])
def test_a_detail_is_told_short_clean_and_without_secrets(played: dict[str, Played], mode: str) -> None:
    told = played[mode].told["error"]

    assert len(told) <= 400
    assert told.isprintable()
    for planted in ("4111111111111111", "hunter2", "sk-live", "Traceback", "/srv/app.py"):
        assert planted not in told


@pytest.mark.fault(217, 219, 240)
def test_no_redirect_is_followed(played: dict[str, Played], running_stand: Stand) -> None:
    assert played
    assert running_stand.payments.followed_redirects == 0


def _modes_by_order(payments: Payments, orders: list[str]) -> dict[str, str]:
    """Say which mode answered which order; the one whose request was never read has what is left."""
    found = {asked.body["order_id"]: asked.mode for asked in payments.requests if asked.body}
    (unread,) = [asked.mode for asked in payments.requests if not asked.body]
    (missing,) = [order for order in orders if order not in found]
    return {**found, missing: unread}


def _told_by_order(stand: Stand) -> dict[str, dict[str, Any]]:
    """Give what the model was told about each order's refund."""
    found: dict[str, dict[str, Any]] = {}
    for asked in stand.model.requests:
        order = asked.body["messages"][1]["content"].rpartition(" ")[2]
        for _, content in tool_results(asked):
            found[order] = content
    return found


def _gate(stand: Stand, answer: requests.Response) -> Row:
    row = stand.gate(turn_id(answer))
    assert row is not None
    return row


def _posts(payments: Payments, order: str) -> int:
    """Count the POSTs for an order; one that was never read is known only by the total."""
    read = sum(asked.body["order_id"] == order for asked in payments.requests if asked.body)
    return read or sum(not asked.body for asked in payments.requests)
