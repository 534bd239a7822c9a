"""The gate in a real database: one row a turn, the first writer wins."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from refund_agent.adapters.sql_inspection import SqlInspection
from refund_agent.adapters.sql_orders import SqlOrderRefunds
from refund_agent.adapters.sql_support_tables import orders
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.inspection import PersonsAnswer, Resolved
from refund_agent.outcomes import (
    AlreadyDecided,
    CallPosition,
    Claimed,
    DeadlinePassed,
    NotSent,
    OrderBusy,
    Paid,
    PaymentAnswer,
    RefundRecord,
    Rejected,
    Superseded,
    Unknown,
)
from refund_agent.strict_json import MAX_INTEGER
from tests.integration.conftest import CALL, Stores

MOST_CENTS = MAX_INTEGER


def test_a_claim_is_committed_with_the_turns_flag_and_its_transcript(stores: Stores) -> None:
    turn, record = stores.claimed("A1", 500)
    assert record == RefundRecord(turn.id, "claimed", "A1", 500, "1.0")
    assert stores.ledger.find(turn.id) == record
    with stores.database.transaction() as tx:
        assert tx.execute(select(turns.c.refund_attempted)).scalar_one() is True


def test_a_second_claim_of_a_turn_is_told_what_was_decided(stores: Stores) -> None:
    turn, record = stores.claimed("A1", 500)
    again = stores.ledger.claim(turn, call=CallPosition(2, 0), order_id="B2", amount_cents=1)
    assert again == AlreadyDecided(record)
    assert stores.ledger.find(turn.id) == record


@pytest.mark.fault(248, 254)
def test_two_turns_on_one_order_leave_one_claim(stores: Stores) -> None:
    stores.claimed("A1", 500)
    other = stores.running()
    assert stores.ledger.claim(other, call=CALL, order_id="A1", amount_cents=500) == OrderBusy("A1")
    assert stores.ledger.find(other.id) is None


def test_a_claim_that_lost_leaves_no_trace_in_its_turn(stores: Stores) -> None:
    stores.claimed("A1", 500)
    other = stores.running()
    stores.ledger.claim(other, call=CALL, order_id="A1", amount_cents=500)
    with stores.database.transaction() as tx:
        flag = tx.execute(select(turns.c.refund_attempted).where(turns.c.id == other.id)).scalar_one()
    assert flag is False


@pytest.mark.fault(248)
def test_of_many_turns_racing_for_an_order_one_claims(stores: Stores) -> None:
    racing = [stores.running() for _ in range(20)]
    with ThreadPoolExecutor(20) as pool:
        answers = list(
            pool.map(lambda t: stores.ledger.claim(t, call=CALL, order_id="A1", amount_cents=5), racing)
        )
    assert sum(isinstance(answer, Claimed) for answer in answers) == 1
    assert answers.count(OrderBusy("A1")) == 19


def test_of_many_claims_racing_in_one_turn_one_wins(stores: Stores) -> None:
    turn = stores.running()
    with ThreadPoolExecutor(10) as pool:
        answers = list(
            pool.map(
                lambda i: stores.ledger.claim(turn, call=CALL, order_id=f"A{i}", amount_cents=5), range(10)
            )
        )
    assert sum(isinstance(answer, Claimed) for answer in answers) == 1
    assert sum(isinstance(answer, AlreadyDecided) for answer in answers) == 9


def test_a_closed_gate_refuses_the_claim_for_good(stores: Stores) -> None:
    turn = stores.running()
    told = stores.turns.give_up(turn.id, DeadlinePassed())
    assert told.refund is not None
    assert told.refund.state == "closed"
    assert stores.ledger.claim(turn, call=CALL, order_id="A1", amount_cents=5) == Superseded()
    record = stores.ledger.find(turn.id)
    assert record is not None
    assert record.state == "closed"


@pytest.mark.parametrize("_try", range(10))
def test_facade_and_worker_racing_never_both_win(stores: Stores, _try: int) -> None:
    turn = stores.running()
    with ThreadPoolExecutor(2) as pool:
        giving_up = pool.submit(stores.turns.give_up, turn.id, DeadlinePassed())
        claiming = pool.submit(stores.ledger.claim, turn, call=CALL, order_id="A1", amount_cents=5)
    told = giving_up.result().refund
    assert told is not None
    assert (told.state == "closed") != isinstance(claiming.result(), Claimed)


def test_a_stale_owner_cannot_claim(stores: Stores) -> None:
    stale = stores.running("w1")
    stores.silence_owner_of(stale.id)
    assert stores.sweeps.take_over() == [stale.id]
    assert stores.ledger.claim(stale, call=CALL, order_id="A1", amount_cents=5) == Superseded()
    assert stores.ledger.find(stale.id) is None


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (Paid("r-1", "succeeded", 500), "paid"),
        (Rejected("no such order"), "rejected"),
        (NotSent("refused"), "not_sent"),
        (Unknown("ReadTimeout", review=True, evidence="…"), "unknown"),
    ],
)
def test_settling_writes_what_came_back(stores: Stores, answer: PaymentAnswer, state: str) -> None:
    turn, claimed = stores.claimed()
    settled = stores.ledger.settle(claimed, epoch=turn.epoch, answer=answer)
    assert settled.state == state
    assert stores.ledger.find(turn.id) == settled


def test_settling_again_changes_nothing(stores: Stores) -> None:
    turn, claimed = stores.claimed()
    paid = stores.ledger.settle(claimed, epoch=turn.epoch, answer=Paid("r-1", "ok", 500))
    assert stores.ledger.settle(claimed, epoch=turn.epoch, answer=Rejected("no")) == paid


@pytest.mark.fault(246)
@pytest.mark.parametrize(
    ("answer", "review", "evidence"),
    [
        (Paid("r-1", "ok", 500), True, '"refund_id": "r-1"'),
        (Rejected("no such order"), False, '"detail": "no such order"'),
        (NotSent("the claim was old"), False, '"reason": "the claim was old"'),
        (Unknown("ReadTimeout"), False, ""),
    ],
)
def test_an_answer_after_the_sweeper_gave_up_is_evidence_not_a_verdict(
    stores: Stores, *, answer: PaymentAnswer, review: bool, evidence: str
) -> None:
    turn, claimed = stores.claimed()
    stores.silence_owner_of(turn.id)
    assert [record.turn_id for record in stores.sweeps.lapse_claims()] == [turn.id]
    late = stores.ledger.settle(claimed, epoch=turn.epoch, answer=answer)
    assert late.state == "unknown"
    assert late.review is review  # only what looks like "paid"
    assert (evidence in late_answer_of(stores, turn.id)) if evidence else not late_answer_of(stores, turn.id)


@pytest.mark.fault(246)
def test_a_receipt_that_comes_after_a_person_said_that_no_money_moved_is_kept(stores: Stores) -> None:
    turn, claimed = stores.claimed()
    stores.silence_owner_of(turn.id)
    stores.sweeps.lapse_claims()
    stores.age_claim(turn.id)
    answer = PersonsAnswer(money_moved=False, resolved_by="ada", note="not in their list")
    assert isinstance(SqlInspection(stores.database).resolve(turn.id, answer), Resolved)

    late = stores.ledger.settle(claimed, epoch=turn.epoch, answer=Paid("r-1", "ok", 500))

    assert (late.state, late.review) == ("not_sent", True)
    assert '"refund_id": "r-1"' in late_answer_of(stores, turn.id)


def test_settling_again_after_a_lost_answer_leaves_no_late_evidence(stores: Stores) -> None:
    turn, claimed = stores.claimed()
    for _ in range(2):
        stores.ledger.settle(claimed, epoch=turn.epoch, answer=Paid("r-1", "ok", 500))
    assert late_answer_of(stores, turn.id) == ""


def late_answer_of(stores: Stores, turn_id: str) -> str:
    with stores.database.transaction(read_only=True) as tx:
        kept = tx.execute(select(refunds.c.late_answer).where(refunds.c.turn_id == turn_id))
        return str(kept.scalar_one())


@pytest.mark.fault(251)
@pytest.mark.parametrize("answer", [None, Unknown("ReadTimeout")])
def test_an_open_or_unknown_refund_blocks_its_order(stores: Stores, answer: PaymentAnswer | None) -> None:
    turn, claimed = stores.claimed("A1")
    if answer is not None:
        stores.ledger.settle(claimed, epoch=turn.epoch, answer=answer)
    later = stores.running()
    assert stores.ledger.claim(later, call=CALL, order_id="A1", amount_cents=500) == OrderBusy("A1")


@pytest.mark.fault(253)
@pytest.mark.parametrize("answer", [Rejected("no"), NotSent("refused")])
def test_a_refund_that_surely_moved_nothing_frees_its_order(stores: Stores, answer: PaymentAnswer) -> None:
    turn, claimed = stores.claimed("A1")
    stores.ledger.settle(claimed, epoch=turn.epoch, answer=answer)
    later = stores.running()
    assert isinstance(stores.ledger.claim(later, call=CALL, order_id="A1", amount_cents=500), Claimed)


@pytest.mark.fault(262)
@pytest.mark.parametrize("cents", [0, -1, -MOST_CENTS])
def test_the_database_itself_refuses_an_amount_that_is_not_positive(stores: Stores, cents: int) -> None:
    turn = stores.running()

    with pytest.raises(IntegrityError, match="refunds_amount"):
        stores.ledger.claim(turn, call=CALL, order_id="A1", amount_cents=cents)

    assert stores.ledger.find(turn.id) is None


@pytest.mark.fault(262)
@pytest.mark.parametrize(
    ("cents", "constraint"),
    [
        ({"paid_cents": -1}, "orders_paid"),
        ({"refunded_before_cents": -1}, "orders_refunded"),
        ({"refunded_before_cents": 101}, "orders_refunded"),
    ],
)
def test_the_database_itself_refuses_an_order_of_which_less_than_nothing_is_left(
    stores: Stores, cents: dict[str, int], constraint: str
) -> None:
    whole = {"id": "A1", "customer_id": "alice", "title": "Mug", "status": "pending", "currency": "EUR"}
    money = {"final_sale": False, "paid_cents": 100, "refunded_before_cents": 0, **cents}

    with pytest.raises(IntegrityError, match=constraint), stores.database.transaction() as tx:
        tx.execute(orders.insert().values(**whole, **money))


@pytest.mark.fault(262)
def test_a_sum_of_the_largest_amounts_is_exact(stores: Stores) -> None:
    """Three times what any argument or answer may say; an order holds far fewer cents."""
    for _ in range(3):
        turn, claimed = stores.claimed("A1", MOST_CENTS)
        stores.ledger.settle(claimed, epoch=turn.epoch, answer=Paid("re-1", "ok", MOST_CENTS))

    so_far = SqlOrderRefunds(stores.database).standing(["A1"]).of("A1")

    assert (so_far.paid_cents, so_far.unconfirmed_cents) == (3 * MOST_CENTS, 0)
