"""Keep the totals of turns that are forgotten, and find what figures ask for without reading every row.

The row of totals is made by whoever counts first: a worker soon after this, in steps.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_UNMIRRORED = "mirrored_state <> state"


def upgrade() -> None:
    op.create_table(
        "kept_totals",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("until_ms", sa.BigInteger(), nullable=False),
        sa.Column("totals", sa.Text(), nullable=False),
        sa.CheckConstraint("id = 1", name="kept_totals_one_row"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("refunds_settled", "refunds", ["settled_at_ms"], unique=False)
    op.create_index(
        "refunds_unmirrored",
        "refunds",
        ["decided_at_ms"],
        unique=False,
        sqlite_where=sa.text(_UNMIRRORED),
        postgresql_where=sa.text(_UNMIRRORED),
    )


def downgrade() -> None:
    op.drop_index("refunds_unmirrored", table_name="refunds")
    op.drop_index("refunds_settled", table_name="refunds")
    op.drop_table("kept_totals")
