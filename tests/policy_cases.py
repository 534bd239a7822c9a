"""The contract's policy once more, written independently of the code, and the cases to try it on."""

from dataclasses import replace
from datetime import date, timedelta

from hypothesis import strategies as st

from refund_agent.orders import Order, OrderStatus, RefundsSoFar
from refund_agent.policy import Case, Rules

TODAY = date(2026, 11, 20)

RULES = Rules(
    version="2026-11",
    return_window_days=30,
    one_refund_per_order=True,
    escalate_above_cents=50_000,
    approval_expiry_days=7,
    refundable_statuses=frozenset[OrderStatus]({"delivered"}),
    refund_final_sale=False,
)
SPLIT = replace(RULES, one_refund_per_order=False)

ORDER = Order(
    id="A1",
    customer_id="c-1",
    title="A kettle",
    status="delivered",
    delivered_on=TODAY - timedelta(days=3),
    final_sale=False,
    currency="EUR",
    paid_cents=80_000,
)
CASE = Case("c-1", ORDER, 4_999, TODAY)


def case(*, amount_cents: int = 4_999, refunds: RefundsSoFar | None = None, **order: object) -> Case:
    """Return the plain refundable case with some facts changed."""
    changed = replace(ORDER, **order)  # type: ignore[arg-type]  # a test names fields of Order
    return Case("c-1", changed, amount_cents, TODAY, refunds or RefundsSoFar())


def delivered_days_ago(days: int) -> date:
    return TODAY - timedelta(days=days)


def contract_allows(asked: Case, rules: Rules) -> bool:
    """Say by the letter of the contract whether this may be paid out without a person."""
    order = asked.order
    if order is None or order.customer_id != asked.customer_id:
        return False
    if order.status != "delivered" or order.delivered_on is None or order.final_sale:
        return False
    if not 0 <= (asked.today - order.delivered_on).days <= rules.return_window_days:
        return False
    paid_back = order.refunded_before_cents + asked.refunds.paid_cents
    if asked.refunds.unconfirmed_cents > 0 or (rules.one_refund_per_order and paid_back > 0):
        return False
    if not (asked.amount_cents > 0 and paid_back + asked.amount_cents <= order.paid_cents):
        return False
    return asked.amount_cents <= rules.escalate_above_cents


_cents = st.one_of(st.integers(1, 2_000), st.sampled_from([49_999, 50_000, 50_001]), st.integers(1, 10**9))


@st.composite
def good_cases(draw: st.DrawFn) -> Case:
    """A case that every rule passes, but for the limit when the amount is large."""
    paid = draw(_cents)
    order = replace(ORDER, paid_cents=paid, delivered_on=delivered_days_ago(draw(st.integers(0, 30))))
    amount = draw(st.one_of(st.just(paid), st.integers(1, paid)))
    return Case("c-1", order, amount, TODAY)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A good case with up to three facts changed, mostly to the near side or the far side of a border."""
    asked = draw(good_cases())
    for change in draw(st.lists(st.sampled_from(_CHANGES), max_size=3)):
        if asked.order is not None:
            asked = change(draw, asked, asked.order)
    return asked


def _another_order(draw: st.DrawFn, asked: Case, order: Order) -> Case:
    return replace(asked, order=draw(st.sampled_from([None, replace(order, customer_id="c-2")])))


def _another_status(draw: st.DrawFn, asked: Case, order: Order) -> Case:
    statuses: list[OrderStatus] = ["delivered", "pending", "processed", "shipped", "cancelled"]
    return replace(asked, order=replace(order, status=draw(st.sampled_from(statuses))))


def _another_day(draw: st.DrawFn, asked: Case, order: Order) -> Case:
    days = draw(st.sampled_from([-400, -1, 0, 14, 15, 29, 30, 31, 400, None]))
    return replace(
        asked, order=replace(order, delivered_on=None if days is None else delivered_days_ago(days))
    )


def _final_sale(_draw: st.DrawFn, asked: Case, order: Order) -> Case:
    return replace(asked, order=replace(order, final_sale=True))


def _another_amount(draw: st.DrawFn, asked: Case, order: Order) -> Case:
    paid = order.paid_cents
    near = [-paid, -1, 0, 1, paid // 2, paid - 1, paid, paid + 1, 49_999, 50_000, 50_001, 10**12]
    return replace(asked, amount_cents=draw(st.sampled_from(near)))


def _refunds(draw: st.DrawFn, asked: Case, order: Order) -> Case:
    paid = order.paid_cents
    some = st.sampled_from([0, 1, paid // 2, paid - 1, paid])
    return replace(asked, refunds=RefundsSoFar(draw(some), draw(st.sampled_from([0, 0, 1, paid]))))


def _refunded_before(draw: st.DrawFn, asked: Case, order: Order) -> Case:
    paid = order.paid_cents
    before = draw(st.sampled_from([0, 1, paid // 2, paid - 1, paid]))
    return replace(asked, order=replace(order, refunded_before_cents=before))


_CHANGES = [
    _another_order,
    _another_status,
    _another_day,
    _final_sale,
    *[_another_amount] * 3,
    *[_refunds] * 2,
    _refunded_before,
]

some_rules = st.builds(
    replace,
    st.just(RULES),
    return_window_days=st.sampled_from([0, 14, 30]),
    one_refund_per_order=st.booleans(),
    escalate_above_cents=st.sampled_from([0, 50_000, 2**53 - 1]),
)
