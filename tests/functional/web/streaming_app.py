"""What gunicorn serves in the tests of streams: the one route, open to everybody, and a quick other one."""

import os

from flask import Flask

from tests.functional.web.turn_stage import TurnStage, everybody
from web import turn_events, turn_stream
from web.turn_events import Access

THREADS = 220


def application() -> Flask:
    """Build it with limits that a test can wait for."""
    turn_events.WRITE_SECONDS = 1.0  # type: ignore[misc]  # final in production
    turn_stream.LOOK_ROUND_SECONDS = 0.2  # type: ignore[misc]  # same
    stage = TurnStage(
        os.environ["STAGE_DATABASE"],  # noqa: TID251 - given by the test that starts the server
        os.environ["STAGE_REDIS"],  # noqa: TID251 - same
        web_threads=THREADS,
    )
    app = stage.app(Access(allowed=everybody, shows_all=everybody))
    app.add_url_rule("/taken", "taken", lambda: str(stage.places.taken))
    return app
