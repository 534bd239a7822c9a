"""Count how often an approved refund's turn was put off, so that no such try is taken for a lost worker."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("turns", sa.Column("put_off", sa.Integer, nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("turns", "put_off")
