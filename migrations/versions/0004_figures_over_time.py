"""Keep what a turn cost, and find what happened in a span of time."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # No default: what earlier turns cost is not known, which is not nothing.
    op.add_column("turns", sa.Column("cost_microdollars", sa.BigInteger(), nullable=True))
    op.create_index("turns_created", "turns", ["created_at_ms"], unique=False)
    op.create_index("refunds_decided", "refunds", ["decided_at_ms"], unique=False)
    op.create_index("approvals_requested", "approvals", ["requested_at_ms"], unique=False)
    op.create_index("entries_kind", "conversation_entries", ["kind", "at_ms"], unique=False)
    op.create_index(
        "events_remarkable",
        "events",
        ["at_ms"],
        unique=False,
        sqlite_where=sa.text("kind IN ('policy', 'flag', 'correction')"),
        postgresql_where=sa.text("kind IN ('policy', 'flag', 'correction')"),
    )


def downgrade() -> None:
    op.drop_index("events_remarkable", table_name="events")
    op.drop_index("entries_kind", table_name="conversation_entries")
    op.drop_index("approvals_requested", table_name="approvals")
    op.drop_index("refunds_decided", table_name="refunds")
    op.drop_index("turns_created", table_name="turns")
    op.drop_column("turns", "cost_microdollars")
