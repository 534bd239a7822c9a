"""What a sweeper finds and mends in SQL. Every step is one atomic statement or one short transaction."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, Update, exists, or_, select, tuple_, update

from refund_agent.adapters.sql_database import Database, now_ms
from refund_agent.adapters.sql_rows import RECORD_COLUMNS, refund_record
from refund_agent.adapters.sql_tables import refunds, turns
from refund_agent.outcomes import RefundRecord

BATCH = 100
OVERDUE_GRACE_MS = 2_000
"""The facade gives up at the deadline itself; the sweeper comes after it."""
SETTLE_GRACE_MS = 15_000
"""How long after the payments time-out a living claimant may still be settling."""
MAX_OWNERS = 4
"""A turn that has cost this many workers is ended, not queued again. (Each owner adds two epochs.)"""


class SqlSweeps:
    """Implements the port `Sweeps`."""

    def __init__(self, database: Database, *, lease_seconds: float, payments_timeout_seconds: float) -> None:
        self._database = database
        self._lease_ms = round(lease_seconds * 1000)
        self._settle_ms = round(payments_timeout_seconds * 1000) + SETTLE_GRACE_MS

    def renew(self, turn_ids: Collection[str], *, owner: str) -> None:
        """Renew the leases of the turns that this owner is running now."""
        if not turn_ids:
            return
        mine = turns.c.id.in_(turn_ids) & (turns.c.owner == owner) & (turns.c.state == "running")
        with self._database.transaction() as tx:
            tx.execute(update(turns).where(mine).values(lease_until_ms=now_ms() + self._lease_ms))

    def overdue(self) -> list[str]:
        """Return turns that have not ended although their deadline passed a while ago."""
        late = turns.c.deadline_at_ms + OVERDUE_GRACE_MS < now_ms()
        return self._ids(select(turns.c.id).where(turns.c.state != "ended", late))

    def never_queued(self) -> list[str]:
        """Return turns whose message was never surely sent."""
        old = turns.c.created_at_ms + self._lease_ms < now_ms()
        return self._ids(select(turns.c.id).where(turns.c.state == "stored", old))

    def lapse_claims(self) -> list[RefundRecord]:
        """Make `unknown` every claim whose owner died before it settled; return the rows."""
        its_turn = (turns.c.id == refunds.c.turn_id) & (turns.c.state == "running")
        owner_is_silent = exists().where(its_turn, turns.c.lease_until_ms < now_ms())
        owner_is_alive = exists().where(
            its_turn, turns.c.epoch == refunds.c.epoch, turns.c.lease_until_ms >= now_ms()
        )
        nobody_settles = (refunds.c.decided_at_ms + self._settle_ms < now_ms()) & ~owner_is_alive
        lapse = (
            update(refunds)
            .where(refunds.c.state == "claimed", or_(owner_is_silent, nobody_settles))
            .values(state="unknown", detail="the worker died before it could settle", settled_at_ms=now_ms())
            .returning(*RECORD_COLUMNS)
        )
        with self._database.transaction() as tx:
            return [refund_record(row) for row in tx.execute(lapse)]

    def take_over(self) -> list[str]:
        """Put turns with an expired lease back to `queued` under a new epoch; an open claim lapses first."""
        return self._requeue(self._lapsed() & (turns.c.epoch < 2 * MAX_OWNERS - 1))

    def release(self, turn_ids: Collection[str], *, owner: str) -> list[str]:
        """Put turns of a stopping owner back to `queued`, except those with a refund in flight."""
        return self._requeue(
            turns.c.id.in_(turn_ids) & (turns.c.owner == owner) & (turns.c.state == "running")
        )

    def hopeless(self) -> list[str]:
        """Return turns with an expired lease that have cost too many workers already."""
        return self._ids(select(turns.c.id).where(self._lapsed(), turns.c.epoch >= 2 * MAX_OWNERS - 1))

    def requeue_lost(self) -> list[str]:
        """Return turns that have been `queued` for long, and note that they are queued anew."""
        long_ago = turns.c.queued_at_ms + self._lease_ms < now_ms()
        return self._changed(
            update(turns)
            .where(turns.c.state == "queued", long_ago, turns.c.deadline_at_ms > now_ms())
            .values(queued_at_ms=now_ms())
            .returning(turns.c.id)
        )

    def not_mirrored(self) -> list[RefundRecord]:
        """Return ledger rows whose present state is not known to be in the audit mirror."""
        behind = select(*RECORD_COLUMNS).where(refunds.c.mirrored_state != refunds.c.state).limit(BATCH)
        with self._database.transaction(read_only=True) as tx:
            return [refund_record(row) for row in tx.execute(behind)]

    def mark_mirrored(self, records: Sequence[RefundRecord]) -> None:
        """Note that these rows were mirrored in the state they carry."""
        these = tuple_(refunds.c.turn_id, refunds.c.state).in_([(r.turn_id, r.state) for r in records])
        with self._database.transaction() as tx:
            tx.execute(update(refunds).where(these).values(mirrored_state=refunds.c.state))

    def _requeue(self, which: ColumnElement[bool]) -> list[str]:
        """Fence the present owner by a new epoch. While a claim is open only its owner may touch the turn."""
        open_claim = exists().where(refunds.c.turn_id == turns.c.id, refunds.c.state == "claimed")
        return self._changed(
            update(turns)
            .where(which, ~open_claim)
            .values(state="queued", epoch=turns.c.epoch + 1, owner="", queued_at_ms=now_ms())
            .returning(turns.c.id)
        )

    def _lapsed(self) -> ColumnElement[bool]:
        return (turns.c.state == "running") & (turns.c.lease_until_ms < now_ms())

    def _ids(self, asked: Select[Any]) -> list[str]:
        with self._database.transaction(read_only=True) as tx:
            return list(tx.execute(asked.limit(BATCH)).scalars())

    def _changed(self, change: Update) -> list[str]:
        with self._database.transaction() as tx:
            return list(tx.execute(change).scalars())
