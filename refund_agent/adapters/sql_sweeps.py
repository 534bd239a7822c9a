"""What a sweeper finds and mends in SQL. Every step is one atomic statement."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import ColumnElement, Executable, bindparam, exists, or_, select, tuple_, update

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
"""A turn that has cost this many workers is ended, not queued again.

Counted by the epoch: each time a turn is begun adds one, and each time it is taken over or handed over adds
another, so that the fourth owner holds seven. A turn that was put off is begun once more, and cost nobody."""

_LEASE_MS = bindparam("lease_ms", type_=turns.c.lease_until_ms.type)
_SETTLE_MS = bindparam("settle_ms", type_=refunds.c.decided_at_ms.type)
_THESE = turns.c.id.in_(bindparam("ids", expanding=True)) & (turns.c.owner == bindparam("by"))
_RUNNING = turns.c.state == "running"
_LAPSED = _RUNNING & (turns.c.lease_until_ms < now_ms())
_COST_TOO_MUCH = turns.c.epoch >= 2 * MAX_OWNERS - 1 + turns.c.put_off

_RENEW = update(turns).where(_THESE, _RUNNING).values(lease_until_ms=now_ms() + _LEASE_MS)

_OVERDUE = (
    select(turns.c.id)
    .where(turns.c.state != "ended", turns.c.deadline_at_ms + OVERDUE_GRACE_MS < now_ms())
    .limit(BATCH)
)
_NEVER_QUEUED = (
    select(turns.c.id)
    .where(turns.c.state == "stored", turns.c.created_at_ms + _LEASE_MS < now_ms())
    .limit(BATCH)
)
_HOPELESS = select(turns.c.id).where(_LAPSED, _COST_TOO_MUCH).limit(BATCH)

_ITS_TURN_RUNS = (turns.c.id == refunds.c.turn_id) & _RUNNING
_OWNER_IS_SILENT = exists().where(_ITS_TURN_RUNS, turns.c.lease_until_ms < now_ms())
_OWNER_IS_ALIVE = exists().where(
    _ITS_TURN_RUNS, turns.c.epoch == refunds.c.epoch, turns.c.lease_until_ms >= now_ms()
)
_NOBODY_SETTLES = (refunds.c.decided_at_ms + _SETTLE_MS < now_ms()) & ~_OWNER_IS_ALIVE
_LAPSE_CLAIMS = (
    update(refunds)
    .where(refunds.c.state == "claimed", or_(_OWNER_IS_SILENT, _NOBODY_SETTLES))
    .values(state="unknown", detail="the worker died before it could settle", settled_at_ms=now_ms())
    .returning(*RECORD_COLUMNS)
)

_REQUEUE_LOST = (
    update(turns)
    .where(
        turns.c.state == "queued",
        turns.c.queued_at_ms + _LEASE_MS < now_ms(),
        turns.c.deadline_at_ms > now_ms(),
    )
    .values(queued_at_ms=now_ms())
    .returning(turns.c.id)
)

_NOT_MIRRORED = select(*RECORD_COLUMNS).where(refunds.c.mirrored_state != refunds.c.state).limit(BATCH)


_IS_SETTLED = exists().where(refunds.c.turn_id == turns.c.id, refunds.c.state != "claimed")
_NO_OPEN_CLAIM = or_(~turns.c.refund_attempted, _IS_SETTLED)
"""Judged by the turn's own row first: an UPDATE that has waited for a claim's commit sees that row anew, and
the ledger as it was before."""


def _requeue(which: ColumnElement[bool]) -> Executable:
    """Fence the present owner by a new epoch. While a claim is open only its owner may touch the turn."""
    return (
        update(turns)
        .where(which, _NO_OPEN_CLAIM)
        .values(state="queued", epoch=turns.c.epoch + 1, owner="", queued_at_ms=now_ms())
        .returning(turns.c.id)
    )


_TAKE_OVER = _requeue(_LAPSED & ~_COST_TOO_MUCH)
_RELEASE = _requeue(_THESE & _RUNNING)


class SqlSweeps:
    """Implements the port `Sweeps`."""

    def __init__(self, database: Database, *, lease_seconds: float, payments_timeout_seconds: float) -> None:
        self._database = database
        self._lease = {"lease_ms": round(lease_seconds * 1000)}
        self._settle = {"settle_ms": round(payments_timeout_seconds * 1000) + SETTLE_GRACE_MS}

    def renew(self, turn_ids: Collection[str], *, owner: str) -> None:
        """Renew the leases of the turns that this owner is running now."""
        if not turn_ids:
            return
        with self._database.statement() as one:
            one.execute(_RENEW, {"ids": list(turn_ids), "by": owner, **self._lease})

    def overdue(self) -> list[str]:
        """Return turns that have not ended although their deadline passed a while ago."""
        return self._ids(_OVERDUE)

    def never_queued(self) -> list[str]:
        """Return turns whose message was never surely sent."""
        return self._ids(_NEVER_QUEUED, self._lease)

    def lapse_claims(self) -> list[RefundRecord]:
        """Make `unknown` every claim whose owner died before it settled; return the rows."""
        with self._database.statement() as one:
            return [refund_record(row) for row in one.execute(_LAPSE_CLAIMS, self._settle)]

    def take_over(self) -> list[str]:
        """Put turns with an expired lease back to `queued` under a new epoch; an open claim lapses first."""
        return self._changed(_TAKE_OVER)

    def release(self, turn_ids: Collection[str], *, owner: str) -> list[str]:
        """Put turns of a stopping owner back to `queued`, except those with a refund in flight."""
        return self._changed(_RELEASE, {"ids": list(turn_ids), "by": owner})

    def hopeless(self) -> list[str]:
        """Return turns with an expired lease that have cost too many workers already."""
        return self._ids(_HOPELESS)

    def requeue_lost(self) -> list[str]:
        """Return turns that have been `queued` for long, and note that they are queued anew."""
        return self._changed(_REQUEUE_LOST, self._lease)

    def not_mirrored(self) -> list[RefundRecord]:
        """Return ledger rows whose present state is not known to be in the audit mirror."""
        with self._database.transaction(read_only=True) as one:
            return [refund_record(row) for row in one.execute(_NOT_MIRRORED)]

    def mark_mirrored(self, records: Sequence[RefundRecord]) -> None:
        """Note that these rows were mirrored in the state they carry."""
        these = tuple_(refunds.c.turn_id, refunds.c.state).in_([(r.turn_id, r.state) for r in records])
        with self._database.statement() as one:
            one.execute(update(refunds).where(these).values(mirrored_state=refunds.c.state))

    def _ids(self, asked: Executable, given: Mapping[str, object] | None = None) -> list[str]:
        with self._database.transaction(read_only=True) as one:
            return list(one.execute(asked, given).scalars())

    def _changed(self, change: Executable, given: Mapping[str, object] | None = None) -> list[str]:
        with self._database.statement() as one:
            return list(one.execute(change, given).scalars())
