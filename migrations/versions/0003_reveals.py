"""Record who was shown what an export hides."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "reveals",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("staff_id", sa.String(length=128), nullable=False),
        sa.Column("staff_name", sa.Text(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("reveals_at", "reveals", ["at_ms"], unique=False)


def downgrade() -> None:
    op.drop_index("reveals_at", table_name="reveals")
    op.drop_table("reveals")
