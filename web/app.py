"""Builds the web application from what it is given."""

from flask import Flask

from web import (
    access_log,
    api_docs,
    bearer,
    commands,
    demo,
    doctor,
    health,
    ids,
    problems,
    refund_chat,
    security_headers,
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
    access_log.install(app)  # first: its line is written after everything else
    ids.install(app)
    security_headers.install(app)
    bearer.install(app, services.settings)
    api = api_docs.install(app)
    problems.install(app)  # after the API, whose own error handler it replaces
    api.register_blueprint(refund_chat.blueprint(services.facade))
    api.register_blueprint(turns.blueprint(services.facade))
    app.register_blueprint(health.blueprint(services))
    if services.settings.app_env == "development":
        app.register_blueprint(demo.blueprint())
    doctor.install(app, services.diagnose)
    commands.install(app, services.inspection)
    return app
