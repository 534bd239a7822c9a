"""Make the turns and the ledger."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "refunds",
        sa.Column("turn_id", sa.String(length=36), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("call", sa.String(length=16), nullable=False),
        sa.Column("order_id", sa.Text(), nullable=False),
        sa.Column("amount_cents", sa.BigInteger(), nullable=False),
        sa.Column("refund_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("review", sa.Boolean(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.Column("late_answer", sa.Text(), nullable=False),
        sa.Column("mirrored_state", sa.String(length=8), nullable=False),
        sa.Column("decided_at_ms", sa.BigInteger(), nullable=False),
        sa.Column("settled_at_ms", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("state <> 'paid' OR refund_id <> ''", name="refunds_receipt"),
        sa.CheckConstraint(
            "state = 'closed' OR (amount_cents > 0 AND order_id <> '')", name="refunds_amount"
        ),
        sa.CheckConstraint(
            "state IN ('closed', 'claimed', 'paid', 'rejected', 'not_sent', 'unknown')", name="refunds_state"
        ),
        sa.PrimaryKeyConstraint("turn_id"),
    )
    op.create_index("refunds_not_mirrored", "refunds", ["state", "mirrored_state"], unique=False)
    op.create_index(
        "refunds_one_open_per_order",
        "refunds",
        ["order_id"],
        unique=True,
        sqlite_where=sa.text("state IN ('claimed', 'unknown')"),
        postgresql_where=sa.text("state IN ('claimed', 'unknown')"),
    )
    op.create_table(
        "turns",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("idempotency_key", sa.String(length=64), nullable=True),
        sa.Column("fingerprint", sa.String(length=64), server_default="", nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(length=64), nullable=False),
        sa.Column("completions_used", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("refund_attempted", sa.Boolean(), nullable=False),
        sa.Column("transcript", sa.Text(), nullable=False),
        sa.Column("outcome", sa.String(length=32), nullable=True),
        sa.Column("reply", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_at_ms", sa.BigInteger(), nullable=False),
        sa.Column("deadline_at_ms", sa.BigInteger(), nullable=False),
        sa.Column("queued_at_ms", sa.BigInteger(), nullable=True),
        sa.Column("begun_at_ms", sa.BigInteger(), nullable=True),
        sa.Column("lease_until_ms", sa.BigInteger(), nullable=True),
        sa.Column("ended_at_ms", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("(state = 'ended') = (outcome IS NOT NULL)", name="turns_outcome"),
        sa.CheckConstraint("state IN ('stored', 'queued', 'running', 'ended')", name="turns_state"),
        sa.CheckConstraint("attempts BETWEEN 1 AND 2", name="turns_attempts"),
        sa.CheckConstraint("completions_used BETWEEN 0 AND 5", name="turns_completions"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("idempotency_key"),
    )
    op.create_index("turns_ended_at", "turns", ["ended_at_ms"], unique=False)
    op.create_index(
        "turns_unended",
        "turns",
        ["state", "lease_until_ms"],
        unique=False,
        postgresql_where=sa.text("state <> 'ended'"),
    )
    op.create_table(
        "resolutions",
        sa.Column("turn_id", sa.String(length=36), nullable=False),
        sa.Column("money_moved", sa.Boolean(), nullable=False),
        sa.Column("resolved_by", sa.Text(), nullable=False),
        sa.Column("reference", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("resolved_at_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("turn_id"),
    )


def downgrade() -> None:
    op.drop_table("resolutions")
    op.drop_index("turns_unended", table_name="turns", postgresql_where=sa.text("state <> 'ended'"))
    op.drop_index("turns_ended_at", table_name="turns")
    op.drop_table("turns")
    op.drop_index(
        "refunds_one_open_per_order",
        table_name="refunds",
        sqlite_where=sa.text("state IN ('claimed', 'unknown')"),
        postgresql_where=sa.text("state IN ('claimed', 'unknown')"),
    )
    op.drop_index("refunds_not_mirrored", table_name="refunds")
    op.drop_table("refunds")
