"""The tables. `migrations/` makes them; a test holds the two against each other.

Times are whole milliseconds of database time. Amounts are whole cents.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    text,
)

metadata = MetaData()

turns = Table(
    "turns",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("agent", String(16), nullable=False, server_default="refund_chat"),
    Column("user_id", Text, nullable=False),
    Column("conversation_id", String(36)),
    Column("request_id", Text, nullable=False),
    Column("idempotency_key", String(64), unique=True),
    Column("fingerprint", String(64), nullable=False, server_default=""),
    Column("state", String(8), nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("owner", String(64), nullable=False),
    Column("completions_used", Integer, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("put_off", Integer, nullable=False, server_default="0"),
    Column("refund_attempted", Boolean, nullable=False),
    Column("tokens_used", Integer, nullable=False, server_default="0"),
    Column("cost_microdollars", BigInteger),
    Column("transcript", Text, nullable=False),
    Column("outcome", String(32)),
    Column("reply", Text),
    Column("reason", Text),
    Column("created_at_ms", BigInteger, nullable=False),
    Column("deadline_at_ms", BigInteger, nullable=False),
    Column("queued_at_ms", BigInteger),
    Column("begun_at_ms", BigInteger),
    Column("lease_until_ms", BigInteger),
    Column("ended_at_ms", BigInteger),
    CheckConstraint("state IN ('stored', 'queued', 'running', 'ended')", name="turns_state"),
    CheckConstraint("completions_used BETWEEN 0 AND 5", name="turns_completions"),
    CheckConstraint("attempts BETWEEN 1 AND 2", name="turns_attempts"),
    CheckConstraint("(state = 'ended') = (outcome IS NOT NULL)", name="turns_outcome"),
    Index("turns_unended", "state", "lease_until_ms", postgresql_where=text("state <> 'ended'")),
    Index("turns_ended_at", "ended_at_ms"),
    Index("turns_created", "created_at_ms"),
    Index("turns_conversation", "conversation_id", "created_at_ms"),
    Index(
        "turns_one_open_per_conversation",
        "conversation_id",
        unique=True,
        sqlite_where=text("state <> 'ended'"),
        postgresql_where=text("state <> 'ended'"),
    ),
)
"""One row a turn, from being stored to its outcome. `epoch` fences former owners: every write of a running
turn names its own. `turns_one_open_per_conversation` lets one unended turn a conversation exist."""

refunds = Table(
    "refunds",
    metadata,
    Column("turn_id", String(36), primary_key=True),
    Column("state", String(8), nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("call", String(16), nullable=False),
    Column("order_id", Text, nullable=False),
    Column("amount_cents", BigInteger, nullable=False),
    Column("refund_id", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("review", Boolean, nullable=False),
    Column("evidence", Text, nullable=False),
    Column("late_answer", Text, nullable=False),
    Column("mirrored_state", String(8), nullable=False),
    Column("decided_at_ms", BigInteger, nullable=False),
    Column("settled_at_ms", BigInteger),
    CheckConstraint(
        "state IN ('closed', 'claimed', 'paid', 'rejected', 'not_sent', 'unknown')", name="refunds_state"
    ),
    CheckConstraint("state = 'closed' OR (amount_cents > 0 AND order_id <> '')", name="refunds_amount"),
    CheckConstraint("state <> 'paid' OR refund_id <> ''", name="refunds_receipt"),
    Index(
        "refunds_one_open_per_order",
        "order_id",
        unique=True,
        sqlite_where=text("state IN ('claimed', 'unknown')"),
        postgresql_where=text("state IN ('claimed', 'unknown')"),
    ),
    Index("refunds_not_mirrored", "state", "mirrored_state"),
    Index("refunds_of_order", "order_id"),
    Index("refunds_decided", "decided_at_ms"),
    Index("refunds_settled", "settled_at_ms"),
    Index(
        "refunds_unmirrored",
        "decided_at_ms",
        sqlite_where=text("mirrored_state <> state"),
        postgresql_where=text("mirrored_state <> state"),
    ),
)
"""The ledger, and the gate.

The primary key lets one decision a turn in; `refunds_one_open_per_order` lets one claimed or unknown refund
an order exist. Triggers (migrations 0005 and 0007) refuse to delete a row, to change its turn, order or
amount, to leave a final state, and to make a row `claimed` or `closed` again.
"""

resolutions = Table(
    "resolutions",
    metadata,
    Column("turn_id", String(36), primary_key=True),
    Column("money_moved", Boolean, nullable=False),
    Column("resolved_by", Text, nullable=False),
    Column("reference", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("resolved_at_ms", BigInteger, nullable=False),
)
"""What a person found out about an unknown refund: one answer a turn, and the first stands."""

kept_totals = Table(
    "kept_totals",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("until_ms", BigInteger, nullable=False),
    Column("totals", Text, nullable=False),
    CheckConstraint("id = 1", name="kept_totals_one_row"),
)
"""What `/metrics` counts, up to a moment: a JSON object of whole numbers. See `sql_totals`."""

NEW_ROW: dict[str, object] = {
    "epoch": 0,
    "call": "",
    "order_id": "",
    "amount_cents": 0,
    "refund_id": "",
    "status": "",
    "detail": "",
    "review": False,
    "evidence": "",
    "late_answer": "",
    "mirrored_state": "",
}
"""A ledger row before anybody has written to it."""
