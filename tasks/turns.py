"""The one task: it carries a turn's id and makes one call."""

from structlog.contextvars import bound_contextvars

from tasks.app import app
from tasks.queue import TASK
from tasks.worker import runner


@app.task(name=TASK, ignore_result=True)
def run_turn(turn_id: str, **_from_newer_code: object) -> str:
    """Run the turn that was stored under `turn_id`; return the name of its ending. Never raises.

    A task for a turn that was never stored, or that somebody else has taken, does nothing.
    """
    with bound_contextvars(turn_id=turn_id):
        return type(runner().run(turn_id)).__name__
