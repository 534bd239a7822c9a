"""Let the database itself refuse to rewrite a ledger row or an event, and to delete a ledger row.

A refund goes from `claimed` to what came of it, and from `unknown` to what a person found; its order and
amount never change. Old events may be deleted, with the conversation that they belong to, and never changed.
"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_REWRITTEN = (
    "OLD.turn_id <> NEW.turn_id OR OLD.order_id <> NEW.order_id OR OLD.amount_cents <> NEW.amount_cents "
    "OR OLD.call <> NEW.call OR OLD.epoch <> NEW.epoch "
    "OR (OLD.state <> NEW.state AND OLD.state NOT IN ('claimed', 'unknown'))"
)
_TRIGGERS = (
    ("refunds_never_rewritten", "UPDATE", "refunds", f"WHEN ({_REWRITTEN})"),
    ("refunds_never_deleted", "DELETE", "refunds", ""),
    ("events_never_rewritten", "UPDATE", "events", ""),
)


def upgrade() -> None:
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    if is_postgresql:
        op.execute(
            "CREATE FUNCTION keep_as_written() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION '%: rows are kept as they were written', TG_NAME; END $$"
        )
    for name, verb, table, when in _TRIGGERS:
        refuse = (
            "EXECUTE FUNCTION keep_as_written()"
            if is_postgresql
            else f"BEGIN SELECT RAISE(ABORT, '{name}: rows are kept as they were written'); END"
        )
        op.execute(f"CREATE TRIGGER {name} BEFORE {verb} ON {table} FOR EACH ROW {when} {refuse}")


def downgrade() -> None:
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    for name, _, table, _ in _TRIGGERS:
        op.execute(f"DROP TRIGGER {name} ON {table}" if is_postgresql else f"DROP TRIGGER {name}")
    if is_postgresql:
        op.execute("DROP FUNCTION keep_as_written()")
