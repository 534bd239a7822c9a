"""What gunicorn serves in the tests of slow clients: the web over a facade that answers at once."""

from typing import cast

from flask import Flask

from refund_agent.inspection import Inspection
from refund_agent.settings import Settings
from tests.functional.web.conftest import FakeFacade
from web import WebServices, body, create_app
from web.gunicorn_worker import WalledThreadWorker


class QuickWorker(WalledThreadWorker):
    """The production worker, with a limit that a test can wait for."""

    header_seconds = 1.0


def application() -> Flask:
    """Build it with a wall that a test can wait for."""
    body.BODY_SECONDS = 1.0  # type: ignore[misc]  # final in production
    return create_app(
        WebServices(
            settings=Settings(),
            facade=FakeFacade(),
            probes={},
            render_metrics=lambda: b"",
            diagnose=list,
            inspection=cast("Inspection", None),  # no command is run here
        )
    )
