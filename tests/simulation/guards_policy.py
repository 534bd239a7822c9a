"""The guards of the support agent: policy, approvals, who speaks, and what is said about money."""

from functools import partial

from tests.simulation import guards

code, table = partial(guards.code, agent="support"), partial(guards.table, agent="support")

POLICY = "policy"
ELIGIBILITY = "eligibility"
APPROVALS = "adapters.sql_approvals"
ORDER_ROWS = "adapters.sql_order_rows"
LEDGER = "adapters.sql_ledger"
TOOLS = "support_tools"
AGENT = "support_agent"
APPROVAL_AGENT = "approval_agent"
DESK = "support_desk"
REPLIES = "replies"

_OUTSIDE = ("no refund outside the policy", "an order's balance is kept")
_ASKED_OF_NOTHING = ("the core raises nothing",)
"""A rule that comes after the one which is missing refuses to judge an order that is not there."""
_THIS_ONE = "                approvals.c.id == approval_id,\n"
_SPOKEN = ("nothing is said while a person has the conversation",)
_LEDGERS_WORD = ("a reply about money carries the ledger's word",)


def _rule(name: str, line: str) -> guards.Guard:
    """Take one rule out of the policy's table."""
    return code(name, POLICY, (f"    {line},\n", ""), caught_by=(*_OUTSIDE, *_ASKED_OF_NOTHING))


POLICY_GUARDS = (
    code(
        "a customer's own order",
        POLICY,
        (
            "return case.order is not None and case.order.customer_id == case.customer_id, {}",
            "return case.order is not None, {}",
        ),
        caught_by=_OUTSIDE,
    ),
    _rule("delivered", '("not_delivered", is_delivered)'),
    _rule("no final sale", '("final_sale", is_not_final_sale)'),
    _rule("the return window", '("return_window_closed", window_is_open)'),
    _rule("not refunded yet", '("already_refunded", is_not_refunded_yet)'),
    _rule("not above what is left", '("amount_not_refundable", amount_is_refundable)'),
    _rule("a person above the limit", '("needs_approval", needs_no_person)'),
    code(
        "the policy is judged in the claim",
        LEDGER,
        ("if not isinstance(decision, Approved):", "if False:"),
        ("if decision.amount_cents != record.amount_cents:", "if False:"),
        caught_by=_OUTSIDE,
    ),
    code(
        "what others have refunded is read in the claim",
        LEDGER,
        ("read_refunds(tx.execute(REFUNDS_OF_OTHERS, this).one())", "read_refunds((0, 0, None))"),
        caught_by=_OUTSIDE,
    ),
    code(
        "the order is read in the claim, under its lock",
        ELIGIBILITY,
        (
            "asked = None if self._orders_are_ours else self._orders.find(customer_id, order_id)",
            "asked = self._orders.find(customer_id, order_id)",
        ),
        ("order=facts.order if self._orders_are_ours else asked,", "order=asked,"),
        often={"step slow": 0.5},
        caught_by=_OUTSIDE,
    ),
    code(
        "an approved refund is still judged",
        APPROVAL_AGENT,
        (
            "make_check=lambda: self.eligibility.make_claim_check(",
            "make_check=lambda: (lambda *_, **__: lambda _: Approved(amount_cents, ''))(",
        ),
        (
            "from refund_agent.refunds import",
            "from refund_agent.policy import Approved\nfrom refund_agent.refunds import",
        ),
        caught_by=_OUTSIDE,
    ),
    code(
        "an approval is bound to its arguments",
        APPROVAL_AGENT,
        ('if approval.state != "approved" or not approval.is_intact:', "if False:"),
        caught_by=(
            "an approved refund is what was approved",
            "only a valid, whole call of the model is executed",
        ),
    ),
    code(
        "an approval is decided once",
        APPROVALS,
        (f'{_THIS_ONE}                approvals.c.state == "pending",\n', _THIS_ONE),
        caught_by=("an approval is decided once",),
    ),
    code(
        "an approval is decided in its time",
        APPROVALS,
        ("                approvals.c.expires_at_ms > now_ms(),\n", ""),
        caught_by=("nothing is decided after its time",),
    ),
    code(
        "nobody decides about their own refund",
        APPROVALS,
        ("                approvals.c.customer_id != by,\n", ""),
        caught_by=("nobody decides about their own refund",),
    ),
    code(
        "an approved refund has the approval's id",
        APPROVALS,
        (
            '        "id": approval_id,\n        "agent": "approval",',
            '        "id": str(uuid.uuid4()),\n        "agent": "approval",',
        ),
        caught_by=("only an approved refund has a turn of its own",),
    ),
    code(
        "a state is told in the commit that makes it",
        APPROVALS,
        ("        add_entry(self._database, tx, approval.conversation_id, announce(approval))\n", ""),
        caught_by=("every state of an approval is told",),
    ),
    code(
        "what broke off is told",
        "approval_desk",
        (
            "self.conversations.add(approval.conversation_id, announce_result(approval, _result(found)))",
            "pass",
        ),
        often={"worker killed": 0.02},
        caught_by=("what became of an approved refund is told",),
    ),
    code(
        "a conversation is its customer's",
        DESK,
        (
            "return self.conversations.find(wanted, customer_id=message.customer_id)",
            "return self.conversations.find(wanted, customer_id=None)",
        ),
        caught_by=("a turn is in its customer's own conversation",),
    ),
    table(
        "a conversation has one turn at a time",
        "CREATE UNIQUE INDEX turns_one_open_per_conversation",
        "CREATE INDEX turns_one_open_per_conversation",
        caught_by=("a conversation has one turn at a time",),
    ),
    code(
        "no turn while a person has the conversation",
        DESK,
        ('if conversation is not None and conversation.owner == "person":', "if False:"),
        caught_by=("no turn begins while a person has the conversation",),
    ),
    code(
        "no refund while a person has the conversation",
        TOOLS,
        (
            "if not turn.refund_attempted and self._is_with_a_person(turn):",
            "if self._is_with_a_person(turn) and False:",
        ),
        caught_by=("no refund while a person has the conversation",),
    ),
    code(
        "silence once a person has taken over",
        AGENT,
        ('return found is not None and found.owner == "person"', "return False"),
        caught_by=_SPOKEN,
    ),
    code(
        "only a tool hands over",
        AGENT,
        ("isinstance(message, ToolResult) and HAND_OVER_MARK", "HAND_OVER_MARK"),
        caught_by=_SPOKEN,
    ),
    code(
        "the status line",
        REPLIES,
        ("        lines.append(status_line(record, currency))\n", "        pass\n"),
        caught_by=_LEDGERS_WORD,
    ),
    code(
        "the line that no refund was made",
        REPLIES,
        ("        lines.append(NO_REFUND.say())\n", "        pass\n"),
        caught_by=_LEDGERS_WORD,
    ),
    code(
        "a claim is checked against the ledger",
        REPLIES,
        ("unbacked = claims_money_moved(sentence) and not _is_backed(sentence, record)", "unbacked = False"),
        caught_by=("no claim that the ledger does not back",),
    ),
    code(
        "history leaves no call open",
        "transcripts",
        ("return [*whole, AssistantMessage(text)]", "return [*messages, AssistantMessage(text)]"),
        caught_by=("each tool call is answered once, in order",),
    ),
)
