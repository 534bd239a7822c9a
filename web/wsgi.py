"""What gunicorn loads: `web.wsgi:application()`. The only module of the web that builds anything real."""

from collections.abc import Callable, Mapping
from typing import cast

from flask import Flask

from refund_agent import doctor, logs, wiring, wiring_orders, wiring_support
from refund_agent.doctor_celery import check_celery
from refund_agent.doctor_support import check_support
from refund_agent.facade import Facade
from refund_agent.ports import Queue
from refund_agent.settings import Settings, read_settings
from tasks.app import app as celery_app
from tasks.queue import CeleryQueue
from tasks.viewing_room import ViewingRoom
from tasks.waiting_room import ListeningRoom
from web import metrics
from web.app import create_app
from web.commands_support import PolicyDesk
from web.services import STOP_WAITING, ConsoleServices, SupportServices, WebServices
from web.stream_places import StreamPlaces
from web.turn_events import TurnStreams
from web.turn_stream import FindTurn


def application() -> Flask:
    """Build the application from the environment; refuse an unsafe one by naming what is unsafe."""
    settings = read_settings()
    logs.configure(settings.log_level)
    findings = [*_celery_findings(settings), *check_support(settings)]
    doctor.refuse_unsafe(settings, [*findings, *wiring_orders.diagnose_orders(settings)])
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
    queue = CeleryQueue(celery_app, doorbell=stores.redis, deadline_seconds=settings.turn_deadline_seconds)
    sign_in = wiring_support.build_sign_in(settings, stores)

    def facade_over(queue: Queue) -> Facade:
        return Facade(
            turns=stores.turns,
            queue=queue,
            waiting_room=room,
            clock=stores.clock,
            deadline_seconds=settings.turn_deadline_seconds,
        )

    facade = facade_over(queue)
    support = None if sign_in is None else _support(settings, stores, queue=queue, facade_over=facade_over)

    def diagnose() -> list[doctor.Finding]:
        return [
            *doctor.check(settings),
            *_celery_findings(settings),
            *check_support(settings),
            *wiring_orders.diagnose_orders(settings),
            *doctor.check_live({**wiring.live_checks(stores), **wiring_orders.live_order_checks(settings)}),
        ]

    return WebServices(
        settings=settings,
        facade=facade,
        probes=parts.probes,
        render_metrics=lambda: metrics.render(parts.figures),
        diagnose=diagnose,
        inspection=parts.inspection,
        stop_waiting=room.close,
        streams=_streams(settings, stores, find=facade.find, room=room),
        sign_in=sign_in,
        policy_desk=_policy_desk(settings, stores),
        retention=wiring.build_retention(stores),
        support=support,
        console=None if support is None else _console(settings, stores, parts=parts, support=support),
    )


def _console(
    settings: Settings, stores: wiring.Stores, *, parts: wiring.WebParts, support: SupportServices
) -> ConsoleServices:
    return ConsoleServices(
        sessions=wiring_support.build_sessions(stores),
        casebook=wiring_support.build_casebook(stores),
        inspection=parts.inspection,
        approvals=support.approvals,
        conversations=support.conversations,
        reveals=wiring_support.build_reveals(stores),
        turn_files=parts.turn_files,
        overviews=parts.overviews,
        workers_alive=parts.workers_alive,
        lease_seconds=settings.lease_seconds,
        over_https_only=settings.app_env == "production",
    )


def _support(
    settings: Settings, stores: wiring.Stores, *, queue: Queue, facade_over: Callable[[Queue], Facade]
) -> SupportServices:
    orders = wiring_orders.build_orders(settings, stores.database, today=stores.clock.today())
    desk = wiring_support.build_support_desk(settings, stores)
    approvals = wiring_support.build_approval_desk(stores, queue=queue)
    facade = facade_over(wiring_support.build_recorded_queue(stores, queue))
    return SupportServices(facade, desk, desk.conversations, approvals, orders.eligibility)


def _policy_desk(settings: Settings, stores: wiring.Stores) -> PolicyDesk:
    """Build what the policy's commands call, each part when it is first needed."""
    today, database = stores.clock.today, stores.database
    return PolicyDesk(
        rules=lambda: wiring_orders.rules_for(settings, today()),
        eligibility=lambda: wiring_orders.build_orders(settings, database, today=today()).eligibility,
        seed=lambda: wiring_orders.plant_seeds(database, stores.turns),
    )


def _streams(
    settings: Settings, stores: wiring.Stores, *, find: FindTurn, room: ListeningRoom
) -> TurnStreams:
    """Build what streams turns; all streams of the process share one connection to Redis."""
    stored = wiring.stored_events(stores)
    live = wiring.live_events_reader(settings, stores)
    return TurnStreams(
        find=find,
        stored=stored,
        watching=ViewingRoom(waiting_room=room, live=live, stored=stored, clock=stores.clock),
        clock=stores.clock,
        places=StreamPlaces(web_threads=settings.web_threads),
    )


def _celery_findings(settings: Settings) -> list[doctor.Finding]:
    conf = cast("Mapping[str, object]", celery_app.conf)
    return check_celery(conf, deadline_seconds=settings.turn_deadline_seconds)
