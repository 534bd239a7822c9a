"""Let the database itself refuse to make a refund `claimed` again: that is the state in which one is sent.

Migration 0005 keeps rows as they were written, and names the states that may be left. This one names those
that no row may come back to.
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_NAME = "refunds_never_claimed_again"
_WHEN = "WHEN (OLD.state <> NEW.state AND NEW.state IN ('claimed', 'closed'))"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        refuse = "EXECUTE FUNCTION keep_as_written()"
    else:
        refuse = f"BEGIN SELECT RAISE(ABORT, '{_NAME}: rows are kept as they were written'); END"
    op.execute(f"CREATE TRIGGER {_NAME} BEFORE UPDATE ON refunds FOR EACH ROW {_WHEN} {refuse}")


def downgrade() -> None:
    on = " ON refunds" if op.get_bind().dialect.name == "postgresql" else ""
    op.execute(f"DROP TRIGGER {_NAME}{on}")
