"""This service with nothing that lets a turn survive its worker, to tell what surviving costs.

No checkpoint before a completion, no note that the message was sent, no lease renewed, no sweep. The
claim stays as it is: it carries the turn's state in the very statement that the gate needs.
"""

from refund_agent.adapters.sql_sweeps import SqlSweeps
from refund_agent.adapters.sql_turns import SqlTurns
from refund_agent.sweeper import Sweeper
from tasks.app import app
from web.wsgi import application

__all__ = ["app", "application"]


def _nothing(*_given: object, **_named: object) -> None:
    """Do nothing."""


def _kept(*_given: object) -> bool:
    """Say that it was kept."""
    return True


for owner, name, instead in (
    (SqlTurns, "checkpoint", _kept),
    (SqlTurns, "mark_queued", _nothing),
    (SqlSweeps, "renew", _nothing),
    (Sweeper, "sweep", _nothing),
):
    assert hasattr(owner, name), f"{owner.__name__} has no {name}"
    setattr(owner, name, instead)
