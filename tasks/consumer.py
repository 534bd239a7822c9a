"""Celery's consumer with three of its habits changed.

Celery sends what has gathered on every turn of its event loop, and that is nearly every event by itself:
three messages a turn and 15% of a worker's CPU (measured). Flower does not need to know it that soon.

A consumer that has lost its broker tries again after 2, 4, … 30 seconds. After an outage of a minute that is
up to half a minute in which turns are taken by nobody, and a deadline of 28 seconds passes.

What stands in the queue and is no message ends Celery's worker, and every turn that it runs has to be taken
over. Here it costs a new connection.
"""

from functools import partial
from typing import Any

import structlog
from celery.events.dispatcher import EventDispatcher
from celery.worker import loops
from celery.worker.consumer import Consumer
from redis.exceptions import ConnectionError as BrokerAway

log = structlog.stdlib.get_logger(__name__)

GATHER_SECONDS = 0.25
RECONNECT_SECONDS = 2.0
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What reading something that is no message may raise, in kombu or in Celery."""


class TurnConsumer(Consumer):
    """Gathers its events, is soon back after an outage, and is not ended by what it cannot read."""

    event_dispatcher: EventDispatcher | None
    """Set by Celery's own step `Events`."""
    hub: Any

    def register_with_event_loop(self, hub: Any) -> None:  # noqa: ANN401 - kombu's hub has no types
        """Begin to send; Celery takes the timer away again when the connection is lost."""
        super().register_with_event_loop(hub)
        hub.call_repeatedly(GATHER_SECONDS, self.send_gathered)

    # The stub says that it returns something.
    def on_send_event_buffered(self) -> None:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        """Leave the event for the next time."""

    def send_gathered(self) -> None:
        """Send what has gathered as one message."""
        if self.event_dispatcher:
            self.event_dispatcher.flush()

    def loop(self, *given: Any) -> None:  # noqa: ANN401 - what Celery gives its loops
        """Take messages until the connection is lost; one that cannot be read is gone, and loses it."""
        run = loops.asynloop if self.hub else loops.synloop
        try:
            run(*given)
        except UNREADABLE as error:
            log.error("message_unreadable", error=type(error).__name__)  # noqa: TRY400 - its text is anybody's
            raise BrokerAway("something that is no message was taken from the queue") from error

    def ensure_connected(self, conn: Any) -> Any:  # noqa: ANN401 - kombu's connection is hardly typed
        """Connect, however long it takes, with at most `RECONNECT_SECONDS` between two tries."""
        pauses = {"interval_start": 1, "interval_step": 1, "interval_max": RECONNECT_SECONDS}
        conn.ensure_connection = partial(conn.ensure_connection, **pauses)
        return super().ensure_connected(conn)
