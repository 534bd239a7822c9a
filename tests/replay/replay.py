"""What is tried with every case of the benchmark, and counted only when payments and the ledger agree."""

from collections import Counter
from typing import Any

from tests.replay.shop import Case, Shop, cases, orders_of_a_wrong_status, shop

EXPECTED = {
    "executed once, exact cents": 66,
    "the same again, refused": 66,
    "another customer, order not found": 66,
    "one cent above what was paid, refused": 66,
    "a split above what was paid, refused": 66,
    "wrong status, refused": 204,
}


def replay(url: str) -> Counter[str]:
    """Try everything; return how often what had to happen did happen."""
    with shop(url) as opened:
        count = _cases_and_statuses(opened)
    with shop(url, one_refund_per_order=False) as opened:
        count["a split above what was paid, refused"] = sum(_split(opened, case) for case in cases())
    return count


def _cases_and_statuses(store: Shop) -> Counter[str]:
    count: Counter[str] = Counter()
    for case in cases():
        count["executed once, exact cents"] += _executed(store, case)
        count["the same again, refused"] += _same_again(store, case)
        count["another customer, order not found"] += _foreign(store, case)
        count["one cent above what was paid, refused"] += _one_cent_above(store, case)
    store.forget_refunds()
    for order in orders_of_a_wrong_status():
        told = store.ask(order.customer_id, order.id, 1)
        count["wrong status, refused"] += _refused(told, "its status is") and store.payments.moved == []
    return count


def _executed(store: Shop, case: Case) -> bool:
    store.forget_refunds()
    told = store.ask(case.customer_id, case.order_id, case.amount_cents)
    return told.get("amount_cents") == case.amount_cents and store.payments.moved == [
        (case.order_id, case.amount_cents)
    ]


def _same_again(store: Shop, case: Case) -> bool:
    told = store.ask(case.customer_id, case.order_id, case.amount_cents)
    return _refused(told, "already refunded") and store.payments.request_count == 1


def _foreign(store: Shop, case: Case) -> bool:
    store.forget_refunds()
    other = next(each.customer_id for each in cases() if each.customer_id != case.customer_id)
    told = store.ask(other, case.order_id, case.amount_cents)
    return _refused(told, "Order not found") and store.payments.request_count == 0


def _one_cent_above(store: Shop, case: Case) -> bool:
    store.forget_refunds()
    told = store.ask(case.customer_id, case.order_id, case.paid_cents + 1)
    return _refused(told, "at most") and store.payments.request_count == 0


def _split(store: Shop, case: Case) -> bool:
    """Two parts, together one cent above what was paid: the first goes through, the second does not."""
    store.forget_refunds()
    first = case.paid_cents // 2
    store.ask(case.customer_id, case.order_id, first)
    told = store.ask(case.customer_id, case.order_id, case.paid_cents - first + 1)
    return "error" in told and store.payments.moved == [(case.order_id, first)]


def _refused(told: dict[str, Any], words: str) -> bool:
    return words in str(told.get("error", ""))
