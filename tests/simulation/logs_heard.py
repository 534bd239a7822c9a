"""The service's own log lines: part of the trace; a bug that is logged is a breach all the same."""

import traceback
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import structlog

from tests.simulation.stage import Stage

BUGS = frozenset({"turn_broken", "upkeep_broken"})


@contextmanager
def hear_logs(stage: Stage) -> Iterator[None]:
    """Hear what is logged while the context is open; nothing is printed."""

    def hear(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        name = str(event.get("event"))
        turn_id = str(event.get("turn_id", ""))
        if name in BUGS:
            stage.breach("the core raises nothing", turn_id, f"{name}: {traceback.format_exc(limit=-4)}")
        if stage.trace is not None:
            stage.note_for(turn_id, f"log: {name} {dict(event)}")
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(
        processors=[hear],
        wrapper_class=structlog.BoundLogger,
        logger_factory=structlog.ReturnLoggerFactory(),
        cache_logger_on_first_use=False,
    )
    try:
        yield
    finally:
        structlog.configure(**before)
