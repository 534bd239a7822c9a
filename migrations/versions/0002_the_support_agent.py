"""Make the support agent's tables."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "approvals",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("turn_id", sa.String(length=36), nullable=False),
        sa.Column("conversation_id", sa.String(length=36), nullable=False),
        sa.Column("customer_id", sa.String(length=128), nullable=False),
        sa.Column("order_id", sa.String(length=128), nullable=False),
        sa.Column("amount_cents", sa.BigInteger(), nullable=False),
        sa.Column("arguments_hash", sa.String(length=64), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("policy_version", sa.String(length=32), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("requested_at_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_at_ms", sa.BigInteger(), nullable=False),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("decision_note", sa.Text(), nullable=True),
        sa.Column("decided_at_ms", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("state IN ('pending', 'approved', 'declined', 'expired')", name="approvals_state"),
        sa.CheckConstraint("amount_cents > 0", name="approvals_amount"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "approvals_one_pending_per_order",
        "approvals",
        ["order_id"],
        unique=True,
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_index("approvals_pending", "approvals", ["state", "expires_at_ms"], unique=False)
    op.create_table(
        "conversation_entries",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("conversation_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('customer', 'staff', 'hand_off', 'taken_back', 'approval', 'refund')",
            name="entries_kind",
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "entries_conversation", "conversation_entries", ["conversation_id", "at_ms"], unique=False
    )
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("customer_id", sa.String(length=128), nullable=False),
        sa.Column("owner", sa.String(length=8), nullable=False),
        sa.Column("created_at_ms", sa.BigInteger(), nullable=False),
        sa.Column("updated_at_ms", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("owner IN ('agent', 'person')", name="conversations_owner"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("conversations_customer", "conversations", ["customer_id", "updated_at_ms"], unique=False)
    op.create_index("conversations_updated", "conversations", ["updated_at_ms"], unique=False)
    op.create_table(
        "customers",
        sa.Column("id", sa.String(length=128), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "events",
        sa.Column("turn_id", sa.String(length=36), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("turn_id", "seq"),
    )
    op.create_table(
        "orders",
        sa.Column("id", sa.String(length=128), nullable=False),
        sa.Column("customer_id", sa.String(length=128), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("delivered_on", sa.String(length=10), nullable=True),
        sa.Column("final_sale", sa.Boolean(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("paid_cents", sa.BigInteger(), nullable=False),
        sa.Column("refunded_before_cents", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("status <> 'delivered' OR delivered_on IS NOT NULL", name="orders_delivered"),
        sa.CheckConstraint(
            "status IN ('pending', 'processed', 'shipped', 'delivered', 'cancelled')", name="orders_status"
        ),
        sa.CheckConstraint("paid_cents >= 0", name="orders_paid"),
        sa.CheckConstraint("refunded_before_cents BETWEEN 0 AND paid_cents", name="orders_refunded"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("orders_customer", "orders", ["customer_id"], unique=False)
    op.create_index("refunds_of_order", "refunds", ["order_id"], unique=False)
    op.add_column(
        "turns", sa.Column("agent", sa.String(length=16), server_default="refund_chat", nullable=False)
    )
    op.add_column("turns", sa.Column("conversation_id", sa.String(length=36), nullable=True))
    op.add_column("turns", sa.Column("tokens_used", sa.Integer(), server_default="0", nullable=False))
    op.create_index("turns_conversation", "turns", ["conversation_id", "created_at_ms"], unique=False)
    op.create_index(
        "turns_one_open_per_conversation",
        "turns",
        ["conversation_id"],
        unique=True,
        sqlite_where=sa.text("state <> 'ended'"),
        postgresql_where=sa.text("state <> 'ended'"),
    )


def downgrade() -> None:
    op.drop_index(
        "turns_one_open_per_conversation",
        table_name="turns",
        sqlite_where=sa.text("state <> 'ended'"),
        postgresql_where=sa.text("state <> 'ended'"),
    )
    op.drop_index("turns_conversation", table_name="turns")
    op.drop_column("turns", "tokens_used")
    op.drop_column("turns", "conversation_id")
    op.drop_column("turns", "agent")
    op.drop_index("refunds_of_order", table_name="refunds")
    op.drop_index("orders_customer", table_name="orders")
    op.drop_table("orders")
    op.drop_table("events")
    op.drop_table("customers")
    op.drop_index("conversations_updated", table_name="conversations")
    op.drop_index("conversations_customer", table_name="conversations")
    op.drop_table("conversations")
    op.drop_index("entries_conversation", table_name="conversation_entries")
    op.drop_table("conversation_entries")
    op.drop_index("approvals_pending", table_name="approvals")
    op.drop_index(
        "approvals_one_pending_per_order",
        table_name="approvals",
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.drop_table("approvals")
