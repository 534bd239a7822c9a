"""The support agent's tables: customers, orders, conversations, entries, approvals, events, reveals.

Times are whole milliseconds of database time, days are ISO dates, amounts whole cents.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Index,
    Integer,
    String,
    Table,
    Text,
    text,
)

from refund_agent.adapters.sql_tables import metadata as metadata  # noqa: PLC0414 - the tables below complete it

customers = Table(
    "customers",
    metadata,
    Column("id", String(128), primary_key=True),
    Column("name", Text, nullable=False),
    Column("email", Text, nullable=False),
)

orders = Table(
    "orders",
    metadata,
    Column("id", String(128), primary_key=True),
    Column("customer_id", String(128), nullable=False),
    Column("title", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("delivered_on", String(10)),
    Column("final_sale", Boolean, nullable=False),
    Column("currency", String(3), nullable=False),
    Column("paid_cents", BigInteger, nullable=False),
    Column("refunded_before_cents", BigInteger, nullable=False),
    CheckConstraint(
        "status IN ('pending', 'processed', 'shipped', 'delivered', 'cancelled')", name="orders_status"
    ),
    CheckConstraint("paid_cents >= 0", name="orders_paid"),
    CheckConstraint("refunded_before_cents BETWEEN 0 AND paid_cents", name="orders_refunded"),
    CheckConstraint("status <> 'delivered' OR delivered_on IS NOT NULL", name="orders_delivered"),
    Index("orders_customer", "customer_id"),
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("customer_id", String(128), nullable=False),
    Column("owner", String(8), nullable=False),
    Column("created_at_ms", BigInteger, nullable=False),
    Column("updated_at_ms", BigInteger, nullable=False),
    CheckConstraint("owner IN ('agent', 'person')", name="conversations_owner"),
    Index("conversations_customer", "customer_id", "updated_at_ms"),
    Index("conversations_updated", "updated_at_ms"),
)

entries = Table(
    "conversation_entries",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("conversation_id", String(36), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("author", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    CheckConstraint(
        "kind IN ('customer', 'staff', 'hand_off', 'taken_back', 'approval', 'refund')", name="entries_kind"
    ),
    Index("entries_conversation", "conversation_id", "at_ms"),
    Index("entries_kind", "kind", "at_ms"),
)
"""What happens in a conversation outside a turn: a person's words, both ends of a hand-off, an approval."""

approvals = Table(
    "approvals",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("turn_id", String(36), nullable=False),
    Column("conversation_id", String(36), nullable=False),
    Column("customer_id", String(128), nullable=False),
    Column("order_id", String(128), nullable=False),
    Column("amount_cents", BigInteger, nullable=False),
    Column("arguments_hash", String(64), nullable=False),
    Column("reason", Text, nullable=False),
    Column("policy_version", String(32), nullable=False),
    Column("state", String(8), nullable=False),
    Column("requested_at_ms", BigInteger, nullable=False),
    Column("expires_at_ms", BigInteger, nullable=False),
    Column("decided_by", Text),
    Column("decision_note", Text),
    Column("decided_at_ms", BigInteger),
    CheckConstraint("state IN ('pending', 'approved', 'declined', 'expired')", name="approvals_state"),
    CheckConstraint("amount_cents > 0", name="approvals_amount"),
    Index("approvals_pending", "state", "expires_at_ms"),
    Index("approvals_requested", "requested_at_ms"),
    Index(
        "approvals_one_pending_per_order",
        "order_id",
        unique=True,
        sqlite_where=text("state = 'pending'"),
        postgresql_where=text("state = 'pending'"),
    ),
)

REMARKABLE = "kind IN ('policy', 'flag', 'correction')"
"""What is counted over time. Written out: a partial index is used where the question says the same words."""

events = Table(
    "events",
    metadata,
    Column("turn_id", String(36), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("kind", String(32), nullable=False),
    Column("body", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Index(
        "events_remarkable",
        "at_ms",
        sqlite_where=text(REMARKABLE),
        postgresql_where=text(REMARKABLE),
    ),
)
"""Everything a turn did, in order; `body` is a JSON object."""

reveals = Table(
    "reveals",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("staff_id", String(128), nullable=False),
    Column("staff_name", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Index("reveals_at", "at_ms"),
)
"""Who was shown what an export hides. Kept for ever: forgetting customers does not forget who looked."""
