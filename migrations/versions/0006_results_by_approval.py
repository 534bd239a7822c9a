"""Give the entry that tells an approved refund's result the approval's own id, so that SQL can look for it.

Its id was made from the approval's by a hash that no database here can compute.
"""

import uuid

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_NAMES = uuid.UUID("6f1c1a52-0f0b-4a0e-9d0b-2f6a4f6f7b11")
_RENAME = sa.text("UPDATE conversation_entries SET id = :new WHERE id = :old")


def _ids() -> list[tuple[str, str]]:
    """Return an approval's id and the hashed one, for every refund that was approved."""
    approved = op.get_bind().execute(sa.text("SELECT id FROM approvals WHERE state = 'approved'"))
    return [(one, str(uuid.uuid5(_NAMES, f"{one}:result"))) for one in approved.scalars().all()]


def upgrade() -> None:
    for own, hashed in _ids():
        op.get_bind().execute(_RENAME, {"new": own, "old": hashed})


def downgrade() -> None:
    for own, hashed in _ids():
        op.get_bind().execute(_RENAME, {"new": hashed, "old": own})
