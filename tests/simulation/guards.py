"""Every guard of the design, how it is taken out, and which invariants must then be seen to break.

A guard that another one backs up is watched by an invariant of its own layer, so that each removal is seen
by itself. `BACKED_UP` lists those few whose absence no behaviour of the service can show, and why they stay.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.simulation.episodes import Agent, Removal
from tests.simulation.modules import Patch


@dataclass(frozen=True, slots=True)
class Guard:
    """One guard: its name, its removal, and the invariants of which one must report the removal."""

    name: str
    removal: Removal
    caught_by: frozenset[str]


def code(
    name: str,
    module: str,
    *changes: tuple[str, str],
    caught_by: tuple[str, ...],
    often: Mapping[str, float] | None = None,
    agent: Agent = "refund_chat",
) -> Guard:
    """Describe a guard that stands in the code of one module."""
    patches = [Patch(f"refund_agent.{module}", old, new) for old, new in changes]
    removal = Removal(patches=patches, often=often or {}, agent=agent)
    return Guard(name, removal, frozenset(caught_by))


def table(
    name: str,
    old: str,
    new: str,
    *,
    caught_by: tuple[str, ...],
    often: Mapping[str, float] | None = None,
    agent: Agent = "refund_chat",
) -> Guard:
    """Describe a guard that the database holds."""
    removal = Removal(tables=((old, new),), often=often or {}, agent=agent)
    return Guard(name, removal, frozenset(caught_by))


BACKED_UP = {
    "a settlement carries its claimant's epoch": (
        "adapters/sql_ledger: a turn has one row, only a claim that won goes on to settle, and it gives the "
        "epoch that it wrote. No run of the service can give another; the condition stays as the last word "
        "against code that would."
    ),
    "an unconfirmed refund counts": (
        "policy: while one is claimed or unknown, `refunds_one_open_per_order` lets no second row of the "
        "order in. Each holds without the other; the index has its guard among those of the money path."
    ),
    "the order's row is locked": (
        "adapters/sql_order_rows: a transaction is atomic here, as in SQLite. That 30 turns racing on one "
        "order do not pass its balance on PostgreSQL is tested in tests/integration/test_policy_claim.py."
    ),
}
"""Guards without a test here, and why: no behaviour of the service shows that they are gone."""
