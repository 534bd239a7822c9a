"""What gunicorn loads: `web.wsgi:application()`. The only module of the web that builds anything real."""

from collections.abc import Mapping
from typing import cast

from flask import Flask

from refund_agent import doctor, logs, wiring
from refund_agent.doctor_celery import check_celery
from refund_agent.facade import Facade
from refund_agent.settings import Settings, read_settings
from tasks.app import app as celery_app
from tasks.queue import CeleryQueue
from tasks.waiting_room import ListeningRoom
from web import metrics
from web.app import create_app
from web.services import STOP_WAITING, WebServices


def application() -> Flask:
    """Build the application from the environment; refuse an unsafe one by naming what is unsafe."""
    settings = read_settings()
    logs.configure(settings.log_level)
    doctor.refuse_unsafe(settings, _celery_findings(settings))
    services = build_services(settings)
    app = create_app(services)
    app.extensions[STOP_WAITING] = services.stop_waiting
    return app


def diagnosable_application() -> Flask:
    """Build the application for `flask doctor`, which has to run where start-up would refuse."""
    return create_app(build_services(read_settings()))


def build_services(settings: Settings) -> WebServices:
    """Build what the routes call. Connects to nothing yet."""
    stores = wiring.open_stores(settings)
    parts = wiring.build_web(stores)
    room = ListeningRoom(
        signals=stores.signals,
        turns=stores.turns,
        clock=stores.clock,
        tell_waiting=lambda waiting: parts.presence.beat(settings.process_id, waiting),
    )
    facade = Facade(
        turns=stores.turns,
        queue=CeleryQueue(celery_app, doorbell=stores.redis, deadline_seconds=settings.turn_deadline_seconds),
        waiting_room=room,
        clock=stores.clock,
        deadline_seconds=settings.turn_deadline_seconds,
    )

    def diagnose() -> list[doctor.Finding]:
        return [
            *doctor.check(settings),
            *_celery_findings(settings),
            *doctor.check_live(wiring.live_checks(stores)),
        ]

    return WebServices(
        settings=settings,
        facade=facade,
        probes=parts.probes,
        render_metrics=lambda: metrics.render(parts.figures),
        diagnose=diagnose,
        inspection=parts.inspection,
        stop_waiting=room.close,
    )


def _celery_findings(settings: Settings) -> list[doctor.Finding]:
    conf = cast("Mapping[str, object]", celery_app.conf)
    return check_celery(conf, deadline_seconds=settings.turn_deadline_seconds)
