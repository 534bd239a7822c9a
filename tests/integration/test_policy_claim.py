"""The policy inside the claim: no two turns pass on one balance, and a refusal leaves nothing behind."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, timedelta
from threading import Barrier

import pytest
from sqlalchemy import delete, insert, select, update

from refund_agent.adapters.sql_database import Database
from refund_agent.adapters.sql_ledger import SqlLedger
from refund_agent.adapters.sql_orders import SqlOrderRefunds, SqlOrders
from refund_agent.adapters.sql_seeds import SqlSeeds
from refund_agent.adapters.sql_support_tables import orders
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.eligibility import Eligibility
from refund_agent.orders import NOTHING_REFUNDED, Order, Profile
from refund_agent.outcomes import (
    AlreadyDecided,
    CallPosition,
    ClaimAnswer,
    Claimed,
    NotSent,
    OrderBusy,
    Paid,
    PaymentAnswer,
    RefusedByPolicy,
    Superseded,
    Unknown,
)
from refund_agent.policy import Approved, Decision, Denied, Escalated, LockedFacts, Rules
from refund_agent.ports import StoreUnavailable
from refund_agent.turn import Turn
from tests.integration.conftest import CALL, Stores
from tests.policy_cases import ORDER, RULES, SPLIT

RACERS = 30


class OtherShop:
    """A shop's own service: an order that is in no table of ours."""

    def __init__(self, order: Order) -> None:
        self.order = order

    def find(self, customer_id: str, order_id: str) -> Order | None:
        mine = (self.order.id, self.order.customer_id) == (order_id, customer_id)
        return self.order if mine else None

    def find_for_staff(self, order_id: str) -> Order | None:
        return self.order if self.order.id == order_id else None

    def list(self, customer_id: str, *, limit: int) -> Sequence[Order]:
        return [self.order][:limit] if self.order.customer_id == customer_id else []

    def profile(self, customer_id: str) -> Profile | None:
        return Profile(customer_id, "", "")


def today(stores: Stores) -> date:
    return SqlOrderRefunds(stores.database).standing([]).today


@pytest.fixture
def order(stores: Stores) -> Order:
    placed = replace(ORDER, delivered_on=today(stores) - timedelta(days=3), paid_cents=100_000)
    SqlSeeds(stores.database).put([Profile("c-1", "Ada", "ada@example.com")], [placed])
    return placed


def desk(stores: Stores, rules: Rules = RULES, *, shop: OtherShop | None = None) -> Eligibility:
    return Eligibility(
        orders=shop or SqlOrders(stores.database),
        refunds=SqlOrderRefunds(stores.database),
        rules=rules,
        orders_are_ours=shop is None,
    )


def claim(
    stores: Stores,
    cents: int,
    *,
    at: Eligibility | None = None,
    turn: Turn | None = None,
    customer_id: str = "c-1",
    order_id: str = "A1",
) -> ClaimAnswer:
    check = (at or desk(stores)).make_claim_check(customer_id, order_id, cents)
    return stores.ledger.claim(
        turn or stores.running(), call=CALL, order_id=order_id, amount_cents=cents, check=check
    )


def settle(stores: Stores, claimed: ClaimAnswer, answer: PaymentAnswer) -> None:
    assert isinstance(claimed, Claimed)
    stores.ledger.settle(claimed.record, epoch=1, answer=answer)


def refused(answer: ClaimAnswer) -> str:
    assert isinstance(answer, RefusedByPolicy), answer
    return answer.decision.rule


# --- One claim ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("order")
def test_what_the_policy_allows_is_claimed(stores: Stores) -> None:
    turn = stores.running()
    claimed = claim(stores, 50_000, turn=turn)
    assert isinstance(claimed, Claimed)
    assert stores.ledger.find(turn.id) == claimed.record
    assert (claimed.record.state, claimed.record.amount_cents) == ("claimed", 50_000)


@pytest.mark.usefixtures("order")
def test_a_refusal_leaves_nothing_and_is_no_attempt(stores: Stores) -> None:
    turn = stores.running()
    answer = claim(stores, 50_001, turn=turn)
    assert isinstance(answer, RefusedByPolicy)
    assert isinstance(answer.decision, Escalated)
    assert stores.ledger.find(turn.id) is None
    with stores.database.transaction() as tx:
        assert tx.execute(select(turns.c.refund_attempted)).scalar_one() is False
    assert isinstance(claim(stores, 50_000, turn=turn), Claimed)


@pytest.mark.fault(292)
def test_an_order_that_is_gone_by_the_time_of_the_claim_is_refused_as_one_that_never_was(
    stores: Stores, order: Order
) -> None:
    check = desk(stores).make_claim_check("c-1", order.id, 100)
    turn = stores.running()
    with stores.database.transaction() as tx:
        tx.execute(delete(orders).where(orders.c.id == order.id))
    answer = stores.ledger.claim(turn, call=CALL, order_id=order.id, amount_cents=100, check=check)
    assert refused(answer) == "order_not_found"
    assert stores.ledger.find(turn.id) is None


@pytest.mark.fault(250)
def test_facts_that_changed_after_they_were_looked_at_are_read_again(stores: Stores, order: Order) -> None:
    at = desk(stores)
    assert isinstance(at.decide("c-1", "A1", 100), Approved)
    check = at.make_claim_check("c-1", "A1", 100)
    with stores.database.transaction() as tx:
        tx.execute(update(orders).where(orders.c.id == order.id).values(final_sale=True))
    answer = stores.ledger.claim(stores.running(), call=CALL, order_id="A1", amount_cents=100, check=check)
    assert refused(answer) == "final_sale"


@pytest.mark.usefixtures("order")
@pytest.mark.fault(267)
def test_of_somebody_elses_order_nothing_is_told_even_while_it_is_busy(stores: Stores) -> None:
    missing = claim(stores, 100, order_id="A0", customer_id="c-2")
    assert claim(stores, 100, customer_id="c-2") == missing
    assert isinstance(claim(stores, 100), Claimed)
    assert claim(stores, 100, customer_id="c-2") == missing
    assert missing == RefusedByPolicy(Denied("order_not_found", "2026-11", {}))


@pytest.mark.usefixtures("order")
@pytest.mark.fault(251, 252)
@pytest.mark.parametrize(
    ("answer", "unconfirmed"), [(None, 100), (Unknown("ReadTimeout"), 100), (Paid("re-1", "ok", 100), 0)]
)
def test_an_order_with_a_refund_gets_no_second(
    stores: Stores, answer: PaymentAnswer | None, unconfirmed: int
) -> None:
    first = claim(stores, 100)
    if answer is not None:
        settle(stores, first, answer)
    second = claim(stores, 100)
    assert refused(second) == "already_refunded"
    assert isinstance(second, RefusedByPolicy)
    assert second.decision.facts["unconfirmed_cents"] == unconfirmed
    assert second.decision.facts["last_refunded_on"] == (None if unconfirmed else today(stores))


@pytest.mark.usefixtures("order")
@pytest.mark.fault(253)
def test_a_refund_that_moved_nothing_leaves_the_order_free(stores: Stores) -> None:
    settle(stores, claim(stores, 100), NotSent("refused"))
    assert isinstance(claim(stores, 100), Claimed)


@pytest.mark.usefixtures("order")
def test_a_turn_that_was_decided_is_told_so_before_any_policy(stores: Stores) -> None:
    turn = stores.running()
    first = claim(stores, 100, turn=turn)
    assert isinstance(first, Claimed)
    again = stores.ledger.claim(
        turn,
        call=CallPosition(2, 0),
        order_id="B2",
        amount_cents=1,
        check=desk(stores).make_claim_check("c-1", "B2", 1),
    )
    assert again == AlreadyDecided(first.record)


@pytest.mark.usefixtures("order")
def test_a_stale_owner_is_stopped_before_any_policy(stores: Stores) -> None:
    stale = stores.running()
    stores.silence_owner_of(stale.id)
    stores.sweeps.take_over()
    assert claim(stores, 100, turn=stale) == Superseded()


@pytest.mark.usefixtures("order")
def test_a_policy_that_breaks_claims_nothing(stores: Stores) -> None:
    def broken(_: LockedFacts) -> Decision:
        raise ZeroDivisionError

    def another_amount(_: LockedFacts) -> Decision:
        return Approved(99, "2026-11")

    turn = stores.running()
    for check, complaint in [(broken, ZeroDivisionError), (another_amount, AssertionError)]:
        with pytest.raises(complaint):
            stores.ledger.claim(turn, call=CALL, order_id="A1", amount_cents=100, check=check)
    assert stores.ledger.find(turn.id) is None


def test_without_a_check_no_policy_is_asked(stores: Stores) -> None:
    answer = stores.ledger.claim(stores.running(), call=CALL, order_id="no-such-order", amount_cents=10**9)
    assert isinstance(answer, Claimed)


@pytest.mark.usefixtures("order")
def test_a_refund_by_the_refund_chat_counts_for_the_policy_too(stores: Stores) -> None:
    stores.claimed("A1", 100)
    assert refused(claim(stores, 100)) == "already_refunded"


# --- Many at once ---------------------------------------------------------------------------------


def race(database: Database, racing: Sequence[Turn], at: Eligibility, cents: int) -> list[ClaimAnswer]:
    """Claim, and at once settle as paid, in every turn at the same moment; a busy database is asked again."""
    ledger, start = SqlLedger(database), Barrier(len(racing))

    def one(turn: Turn) -> ClaimAnswer:
        check = at.make_claim_check("c-1", "A1", cents)
        start.wait()
        for _ in range(20):
            try:
                answer = ledger.claim(turn, call=CALL, order_id="A1", amount_cents=cents, check=check)
            except StoreUnavailable:
                continue
            if isinstance(answer, Claimed):
                ledger.settle(answer.record, epoch=turn.epoch, answer=Paid("re", "ok", cents))
            return answer
        raise AssertionError("the database never answered")

    with ThreadPoolExecutor(len(racing)) as pool:
        return list(pool.map(one, racing))


def paid_out(database: Database) -> int:
    with database.transaction() as tx:
        rows = tx.execute(select(refunds.c.amount_cents).where(refunds.c.order_id == "A1")).scalars()
        return sum(rows)


@pytest.mark.fault(248)
@pytest.mark.parametrize("_try", range(3))
@pytest.mark.parametrize("where", ["our tables", "a shop's own service"])
def test_30_turns_racing_on_one_order_never_pass_its_balance(
    stores: Stores, database_url: str, order: Order, where: str, _try: int
) -> None:
    """Each wants 300.00 of 1000.00 and an order may be refunded in parts: three at most can have it."""
    ours = where == "our tables"
    if not ours:  # then there is no row of the order to lock
        with stores.database.transaction() as tx:
            tx.execute(orders.delete())
    at = desk(stores, SPLIT, shop=None if ours else OtherShop(order))
    racing = [stores.running() for _ in range(RACERS)]
    wide = Database(database_url, pool_size=RACERS)
    try:
        answers = race(wide, racing, at, 30_000)
        again = [claim(stores, 30_000, at=at) for _ in range(4)]
    finally:
        wide.close()
    won = sum(isinstance(answer, Claimed) for answer in answers)
    assert 1 <= won <= 3
    assert all(isinstance(answer, Claimed | OrderBusy | RefusedByPolicy) for answer in answers)
    assert paid_out(stores.database) <= 100_000
    # Whoever comes later finds what is left, and no more: one refund at a time, the first stays open.
    assert sum(isinstance(answer, Claimed) for answer in again) == (1 if won < 3 else 0)


@pytest.mark.fault(248)
@pytest.mark.usefixtures("order")
def test_30_turns_racing_where_an_order_is_refunded_once_leave_one_refund(
    stores: Stores, database_url: str
) -> None:
    racing = [stores.running() for _ in range(RACERS)]
    wide = Database(database_url, pool_size=RACERS)
    try:
        answers = race(wide, racing, desk(stores), 10)
    finally:
        wide.close()
    assert sum(isinstance(answer, Claimed) for answer in answers) == 1
    assert paid_out(stores.database) == 10


# --- Asking without claiming ----------------------------------------------------------------------


def test_a_customers_orders_are_judged_for_what_is_left_of_them(stores: Stores, order: Order) -> None:
    late = replace(order, id="A2", delivered_on=today(stores) - timedelta(days=31), paid_cents=500)
    small = replace(order, id="A3", paid_cents=700, refunded_before_cents=0)
    SqlSeeds(stores.database).put([Profile("c-1", "Ada", "")], [late, small])
    settle(stores, claim(stores, 100, order_id="A3"), Paid("re-1", "ok", 100))
    judged = {one.order.id: one for one in desk(stores, SPLIT).judged_orders("c-1", limit=10)}
    assert judged["A3"].decision == Approved(600, "2026-11")
    assert judged["A3"].refundable_cents == 600
    assert isinstance(judged["A1"].decision, Escalated)
    assert isinstance(judged["A2"].decision, Denied)
    assert judged["A2"].decision.rule == "return_window_closed"
    assert desk(stores).judged_orders("c-2", limit=10) == []


def test_orders_of_our_tables_are_found_only_by_their_owner(stores: Stores, order: Order) -> None:
    found = SqlOrders(stores.database)
    assert found.find("c-1", "A1") == order
    assert found.find("c-2", "A1") is None
    assert found.find_for_staff("A1") == order
    assert found.profile("c-1") == Profile("c-1", "Ada", "ada@example.com")
    assert found.profile("c-2") is None
    with stores.database.transaction() as tx:
        row = {"title": "", "final_sale": False, "currency": "EUR", "paid_cents": 1}
        row |= {"refunded_before_cents": 0, "status": "pending", "customer_id": "c-1"}
        tx.execute(insert(orders), [{**row, "id": f"P{n}"} for n in range(5)])
    assert [one.id for one in found.list("c-1", limit=3)] == ["A1", "P0", "P1"]
    assert SqlOrderRefunds(stores.database).standing(["A1"]).of("A1") == NOTHING_REFUNDED
