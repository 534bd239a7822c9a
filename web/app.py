"""Builds the web application from what it is given."""

from flask import Flask
from jinja2 import StrictUndefined

from web import (
    access_log,
    api_docs,
    approvals,
    chat_pages,
    commands,
    commands_approvals,
    commands_retention,
    commands_support,
    console,
    conversations,
    cross_origin,
    demo,
    dev_sign_in,
    doctor,
    health,
    identity,
    ids,
    problems,
    refund_chat,
    security_headers,
    support_chat,
    support_orders,
    tickets,
    turn_events,
    turns,
)
from web.body import WERKZEUG_LIMIT_BYTES
from web.services import WebServices


def create_app(services: WebServices) -> Flask:
    """Return the WSGI application. Nothing is connected to here."""
    app = Flask("web", static_folder=None)
    app.config.update(MAX_CONTENT_LENGTH=WERKZEUG_LIMIT_BYTES, PROVIDE_AUTOMATIC_OPTIONS=False)
    # A path is what it is: no redirect, which would be an HTML page, to a tidier one.
    app.url_map.merge_slashes = False
    app.url_map.strict_slashes = True
    app.jinja_env.undefined = StrictUndefined
    access_log.install(app)  # first: its line is written after everything else
    ids.install(app)
    security_headers.install(app)
    cross_origin.install(app, services.settings.support.chat_origins)  # a preflight has no token
    identity.install(app, services.settings, services.sign_in)
    api = api_docs.install(app)
    problems.install(app)  # after the API, whose own error handler it replaces
    api.register_blueprint(refund_chat.blueprint(services.facade))
    api.register_blueprint(turns.blueprint(services.facade))
    if services.streams is not None:
        access = turn_events.Access(identity.may_read, identity.viewer_name, identity.sees_all)
        api.register_blueprint(turn_events.blueprint(services.streams, access))
    if services.sign_in is not None:
        api.register_blueprint(tickets.blueprint(services.sign_in.tickets))
    if services.support is not None and services.streams is not None:
        support = services.support
        api.register_blueprint(support_chat.blueprint(support.desk, support.facade, services.streams))
        api.register_blueprint(conversations.blueprint(support.conversations))
        api.register_blueprint(support_orders.blueprint(support.eligibility))
        api.register_blueprint(approvals.blueprint(support.approvals))
    if services.console is not None and services.sign_in is not None:
        console.install(app, services.console, services.sign_in)
    app.register_blueprint(health.blueprint(services))
    if services.sign_in is not None:
        origins = services.settings.support.chat_origins
        app.register_blueprint(chat_pages.blueprint(origins, picks=_has_picker(services)))
    if services.settings.app_env == "development":
        app.register_blueprint(demo.blueprint(begins_with_chat=_has_picker(services)))
        if services.sign_in is not None and services.sign_in.picker is not None:
            app.register_blueprint(dev_sign_in.blueprint(services.sign_in.picker))
    doctor.install(app, services.diagnose)
    commands.install(app, services.inspection)
    commands_approvals.install(app, None if services.support is None else services.support.approvals)
    if services.retention is not None:
        commands_retention.install(
            app, services.retention, default_days=services.settings.support.retention_days
        )
    if services.policy_desk is not None:
        commands_support.install(app, services.policy_desk, app_env=services.settings.app_env)
    return app


def _has_picker(services: WebServices) -> bool:
    in_development = services.settings.app_env == "development"
    return in_development and services.sign_in is not None and services.sign_in.picker is not None
