"""The guards of the money path."""

from tests.simulation.guards import code, table

REFUNDS = "refunds"
LEDGER = "adapters.sql_ledger"
SWEEPS = "adapters.sql_sweeps"
PAYMENT_ANSWER = "adapters.payment_answer"

_SEND = 'self._send(RefundRecord(turn.id, "claimed", order_id, amount_cents), send_by=turn.deadline)'
_UNFENCED = "(turns.c.id == OWN_TURN) & OWN_EPOCH.is_not(None) & (turns.c.state == 'running')"
_STATELESS = "(turns.c.id == OWN_TURN) & (turns.c.epoch == OWN_EPOCH)"
_MISREAD = "payments' answer is read as what it says"
_NOT_MOVED = (_MISREAD, "moved money is paid or unknown", "what was told about the refund stays true")
_NOT_PAID = (_MISREAD, "paid means moved once, to the cent")

MONEY_GUARDS = (
    code(
        "a receipt is believed",
        PAYMENT_ANSWER,
        ("if isinstance(receipt, Paid):", "if False:"),
        caught_by=(_MISREAD,),
    ),
    code(
        "a resumed turn knows that it attempted its refund",
        "adapters.sql_turns",
        ("refund_attempted=row.refund_attempted,", "refund_attempted=False,"),
        often={"worker killed": 0.02},
        caught_by=(
            "the flag and the fence refuse before the ledger has to",
            "the executed call is answered with its outcome",
        ),
    ),
    table(
        "one row a turn",
        "PRIMARY KEY (turn_id), \n\tCONSTRAINT refunds_state",
        "CONSTRAINT refunds_state",
        often={"flag lost in memory": 0.5},
        caught_by=(
            "the gate only goes forward",
            "a claim is never rewritten",
            "one request a turn at most",
            "the core raises nothing",
        ),
    ),
    table(
        "one open refund an order",
        "CREATE UNIQUE INDEX refunds_one_open_per_order",
        "CREATE INDEX refunds_one_open_per_order",
        caught_by=("an order has one open refund",),
    ),
    code(
        "claim before send",
        REFUNDS,
        ("claim = self._ledger.claim(", f"self._early = {_SEND}\n        claim = self._ledger.claim("),
        ("answer = self._send(claimed, send_by=send_by)", "answer = self._early"),
        caught_by=("a committed claim of its own stands before each request",),
    ),
    code(
        "the flag in memory",
        REFUNDS,
        ("if turn.refund_attempted:", "if False:"),
        caught_by=("the flag and the fence refuse before the ledger has to",),
    ),
    code(
        "the executed call is remembered",
        REFUNDS,
        ("if turn.refund is not None and turn.refund.call == str(call):", "if False:"),
        often={"worker killed": 0.004},
        caught_by=("the executed call is answered with its outcome",),
    ),
    code(
        "a claim leaves time",
        REFUNDS,
        ("if turn.deadline - asked_at < self._needed_seconds:", "if False:"),
        caught_by=("a claim leaves time for its answer",),
    ),
    code(
        "an old claim is not sent",
        REFUNDS,
        ("left = send_by - self._clock.monotonic()", "left = SEND_WITHIN_SECONDS"),
        caught_by=("no old claim is sent",),
    ),
    code(
        "a bug after the claim is unknown",
        REFUNDS,
        ('return Unknown(f"internal error: {type(bug).__name__}")', 'return NotSent("bug")'),
        ("    Unknown,\n)", "    NotSent,\n    Unknown,\n)"),
        caught_by=_NOT_MOVED,
    ),
    code(
        "a claim is fenced by the epoch",
        LEDGER,
        (
            "update(turns).where(OWNED).values(refund_attempted",
            f"update(turns).where({_UNFENCED}).values(refund_attempted",
        ),
        often={"upkeep stuck": 0.03},
        caught_by=("a stale owner writes nothing", "counts and flag never go back"),
    ),
    code(
        "a claim is fenced by the state",
        LEDGER,
        (
            "update(turns).where(OWNED).values(refund_attempted",
            f"update(turns).where({_STATELESS}).values(refund_attempted",
        ),
        often={"worker frozen": 0.01},
        caught_by=(
            "turn states only go forward",
            "the flag and the fence refuse before the ledger has to",
            "a stale owner writes nothing",
        ),
    ),
    code(
        "only a claim is settled",
        LEDGER,
        ('.where(_OWN_ROW, refunds.c.state == "claimed")', ".where(_OWN_ROW)"),
        caught_by=("the gate only goes forward",),
    ),
    code(
        "a claim lapses only when its owner is silent",
        SWEEPS,
        (
            "_OWNER_IS_SILENT = exists().where(_ITS_TURN_RUNS, turns.c.lease_until_ms < now_ms())",
            "_OWNER_IS_SILENT = exists().where(_ITS_TURN_RUNS)",
        ),
        caught_by=("a living worker's claim never lapses",),
    ),
    code(
        "an old claim of a living owner stays",
        SWEEPS,
        (" & ~_OWNER_IS_ALIVE", ""),
        often={"thread stuck": 0.03, "upkeep stuck": 0.0},
        caught_by=("a living worker's claim never lapses",),
    ),
    code(
        "a claim of an ended turn has time to settle",
        SWEEPS,
        (
            "(refunds.c.decided_at_ms + _SETTLE_MS < now_ms())",
            "(refunds.c.decided_at_ms + 0 * _SETTLE_MS < now_ms())",
        ),
        caught_by=("a claim lapses late",),
    ),
    code(
        "a 5xx is not a no",
        PAYMENT_ANSWER,
        ("frozenset({400, 401,", "frozenset({500, 502, 503, 504, 400, 401,"),
        often={"payments answered by a gateway": 0.8},
        caught_by=_NOT_MOVED,
    ),
    code(
        "a conflict is not a no",
        PAYMENT_ANSWER,
        ("frozenset({400, 401,", "frozenset({408, 409, 400, 401,"),
        often={"payments answered by a gateway": 0.8},
        caught_by=_NOT_MOVED,
    ),
    code(
        "a no has a reason of payments' own",
        PAYMENT_ANSWER,
        ("return refusal or Unknown(", 'return refusal or Rejected("no") or Unknown('),
        caught_by=_NOT_MOVED,
    ),
    code(
        "a cut answer means nothing",
        PAYMENT_ANSWER,
        ("if answer.cut:", "if False:"),
        caught_by=(*_NOT_PAID, *_NOT_MOVED),
    ),
    code(
        "an encoded answer means nothing",
        PAYMENT_ANSWER,
        ('if answer.content_encoding.strip().lower() not in {"", "identity"}:', "if False:"),
        caught_by=_NOT_PAID,
    ),
    code(
        "only 200 and 201 are receipts",
        PAYMENT_ANSWER,
        ("frozenset({200, 201})", "frozenset({200, 201, 202, 206, 303})"),
        often={"payments answered by a gateway": 0.8},
        caught_by=_NOT_PAID,
    ),
    code(
        "a receipt is for the amount asked",
        PAYMENT_ANSWER,
        (
            'if type(receipt.get("amount_cents")) is not int or receipt["amount_cents"] != amount_cents:',
            "if False:",
        ),
        caught_by=_NOT_PAID,
    ),
    code(
        "a receipt has an id",
        PAYMENT_ANSWER,
        (
            "if not isinstance(refund_id, str) or not _is_plain(refund_id, MAX_REFUND_ID_LENGTH):",
            "refund_id = str(refund_id)\n    if False:",
        ),
        caught_by=("the core raises nothing", *_NOT_PAID),
    ),
    code(
        "a receipt that says failed is none",
        PAYMENT_ANSWER,
        ("if _says_failed(status):", "if False:"),
        caught_by=_NOT_PAID,
    ),
)
