"""Flower shows tasks by turn id and phase. Its users can stop workers, so it never starts without a login."""

from refund_agent.settings import read_settings
from tasks.app import app

_settings = read_settings()
if not _settings.flower_basic_auth:
    raise SystemExit(
        "refused: FLOWER_BASIC_AUTH is not set. Set it to user:password, then start Flower again."
    )

# It asks eight things at once and listens besides; with a web process's two connections it shows no task.
app.conf.broker_pool_limit = 10

basic_auth = [_settings.flower_basic_auth]
port = _settings.port
persistent = False
max_tasks = 10_000
