"""Claim -> send -> settle: the only code that moves money.

Payments has no idempotency key, so every accepted request is a new refund. What makes a second one
impossible is the order of three short steps, none of which is inside another's transaction:

1. **claim**: one committed ledger row with the turn's id as its key. The first writer wins; a conflict
   means "no". From here on the turn has attempted its refund, whatever happens next.
2. **send**: one request, never repeated by anyone.
3. **settle**: what came back is written over the claim. If that cannot be done the row stays `claimed`,
   and the sweeper makes it `unknown`. Nothing ever makes it sendable again.
"""

from collections.abc import Callable
from typing import Any, assert_never

import structlog

from refund_agent.outcomes import (
    AlreadyDecided,
    CallPosition,
    Claimed,
    NotSent,
    OrderBusy,
    Paid,
    PaymentAnswer,
    RefundRecord,
    RefusedByPolicy,
    Rejected,
    Superseded,
    Unknown,
)
from refund_agent.policy import PolicyCheck, Refusal
from refund_agent.policy_text import say
from refund_agent.ports import Audit, Clock, Hints, Ledger, Payments, StoreUnavailable
from refund_agent.reasons import NO_TIME, NOT_CONFIRMED_YET
from refund_agent.tools import Answer, IssueRefundArguments, Tool, error
from refund_agent.turn import Turn

log = structlog.stdlib.get_logger(__name__)

SETTLE_PAUSE_SECONDS = 0.5
MAX_SETTLE_TRIES = 7200
"""More than fit before any deadline, which is an hour away at most: it is the deadline that ends them."""
CLAIM_MARGIN_SECONDS = 1.0
"""A claim needs the payments time-out plus this before the deadline, so that no deadline cuts a send."""
SEND_WITHIN_SECONDS = 5.0
"""No request begins to leave later than this after its claim was asked for. A worker that was frozen must not
send when it wakes: the claim may be `unknown` by then, and a person may have answered that no money moved."""


class Refunds:
    """Executes at most one refund a turn."""

    def __init__(  # noqa: PLR0913 - the ports of the money path, all in sight
        self,
        *,
        ledger: Ledger,
        payments: Payments,
        audit: Audit,
        hints: Hints,
        clock: Clock,
        payments_timeout_seconds: float,
    ) -> None:
        self._ledger = ledger
        self._payments = payments
        self._audit = audit
        self._hints = hints
        self._clock = clock
        self._needed_seconds = payments_timeout_seconds + CLAIM_MARGIN_SECONDS

    def tool(self) -> Tool:
        """Give the model its one dangerous tool."""
        return Tool(
            name="issue_refund",
            description="Refund an amount of one order to the customer. Moves money; at most once a request.",
            arguments=IssueRefundArguments(),
            run=self._run,
        )

    def _run(self, turn: Turn, call: CallPosition, arguments: dict[str, Any]) -> Answer | Superseded:
        return self.issue(
            turn, call=call, order_id=arguments["order_id"], amount_cents=arguments["amount_cents"]
        )

    def issue(  # noqa: PLR0913 - what to refund, and who judges it
        self,
        turn: Turn,
        *,
        call: CallPosition,
        order_id: str,
        amount_cents: int,
        make_check: Callable[[], PolicyCheck] | None = None,
        refused: Callable[[Refusal], Answer] = lambda decision: error(f"not sent: {say(decision)}"),
    ) -> Answer | Superseded:
        """Refund once, or say why not. `Superseded`: this worker lost the turn and must stop.

        `make_check` may ask the shop, and what it raises is raised here. It is called for a first attempt
        only: what became of an earlier one is told from the ledger, with the shop away too.
        A refusal by its check is no attempt: the model may ask for something that the policy allows. What
        it is told then is up to `refused`.
        """
        if turn.refund_attempted:
            return self._refuse_or_remember(turn, call)
        check = None if make_check is None else make_check()
        asked_at = self._clock.monotonic()
        if turn.deadline - asked_at < self._needed_seconds:
            return error(f"not sent: {NO_TIME.say()}")
        claim = self._ledger.claim(turn, call=call, order_id=order_id, amount_cents=amount_cents, check=check)
        match claim:
            case Claimed(record):
                turn.refund_attempted = True
                turn.refund = self._send_and_settle(turn, record, send_by=asked_at + SEND_WITHIN_SECONDS)
                return tell(turn.refund)
            case OrderBusy():
                return error(f"not sent: {NOT_CONFIRMED_YET.say()}")
            case AlreadyDecided(record):
                turn.refund_attempted = True
                turn.refund = record
                return error("refused: this request's refund is already decided")
            case RefusedByPolicy(decision):
                return refused(decision)
            case Superseded():
                return claim
            case _:
                assert_never(claim)

    def _refuse_or_remember(self, turn: Turn, call: CallPosition) -> Answer:
        """Refuse a second call; for the very call that was executed before a crash, tell its result."""
        if turn.refund is not None and turn.refund.call == str(call):
            return tell(turn.refund)
        return error("refused: a refund was already attempted in this request; do not try again")

    def _send_and_settle(self, turn: Turn, claimed: RefundRecord, *, send_by: float) -> RefundRecord:
        self._audit.mirror(claimed)
        self._hints.phase(turn.id, "asking-payments")
        answer = self._send(claimed, send_by=send_by)
        settled = self._settle(turn, claimed, answer)
        self._audit.mirror(settled)
        return settled

    def _send(self, claimed: RefundRecord, *, send_by: float) -> PaymentAnswer:
        """Send once. After the claim even a bug of ours means "unknown", never "not sent"."""
        left = send_by - self._clock.monotonic()
        if left <= 0:
            return NotSent("the claim was old")
        try:
            return self._payments.refund(claimed.order_id, claimed.amount_cents, send_within_seconds=left)
        except Exception as bug:  # noqa: BLE001 - see above
            return Unknown(f"internal error: {type(bug).__name__}")

    def _settle(self, turn: Turn, claimed: RefundRecord, answer: PaymentAnswer) -> RefundRecord:
        """Outlast a database that is away, within the turn; then the row stays `claimed` for the sweeper."""
        for tried in range(1, MAX_SETTLE_TRIES + 1):
            try:
                return self._settle_once(turn, claimed, answer)
            except StoreUnavailable:
                too_late = self._clock.monotonic() + SETTLE_PAUSE_SECONDS >= turn.deadline
                if too_late or tried == MAX_SETTLE_TRIES:
                    log.exception("refund_not_settled", turn_id=turn.id, **_gist(answer))
                    raise
            self._clock.sleep(SETTLE_PAUSE_SECONDS)
        raise AssertionError("the last try returned or raised")

    def _settle_once(self, turn: Turn, claimed: RefundRecord, answer: PaymentAnswer) -> RefundRecord:
        settled = self._ledger.settle(claimed, epoch=turn.epoch, answer=answer)
        if _contradicts(settled, answer):
            log.error("alarm", alarm="late_answer_contradicts", turn_id=turn.id, **_gist(answer))
        return settled


def _gist(answer: PaymentAnswer) -> dict[str, str]:
    """Say what came back as far as a log may: payments' own reference is what a person looks it up by."""
    reference = {"refund_id": answer.refund_id} if isinstance(answer, Paid) else {}
    return {"answer": type(answer).__name__, **reference}


def _contradicts(settled: RefundRecord, answer: PaymentAnswer) -> bool:
    """Whether a person has answered meanwhile, and otherwise than payments did."""
    match answer:
        case Paid():
            return settled.state in {"rejected", "not_sent"}
        case Rejected() | NotSent():
            return settled.state == "paid"
        case Unknown():
            return False
        case _:
            assert_never(answer)


def tell(record: RefundRecord) -> Answer:
    """Tell the model what became of its refund; the same words live and after a crash."""
    match record.state:
        case "paid":
            return {
                "refund_id": record.refund_id,
                "status": record.status,
                "amount_cents": record.amount_cents,
            }
        case "rejected":
            return error(f"payments rejected the refund; no money moved: {record.detail}")
        case "not_sent":
            return error("the refund was not sent; no money moved; a colleague will follow up")
        case "claimed" | "unknown":
            return error(
                "outcome unknown: the refund was requested but no clear answer came back. The money may or "
                "may not have moved. Do not promise anything and do not try again; a colleague will check."
            )
        case "closed":
            return error("refused: this request is closed")
        case _:
            assert_never(record.state)
