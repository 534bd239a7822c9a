"""How gunicorn serves the web: one process of many threads, since a request waits and does not compute."""

from refund_agent.settings import read_settings
from tasks.garbage import spare_what_stays

_settings = read_settings()

bind = f"0.0.0.0:{_settings.port}"
workers = 1
# Threads: the sync worker kills a waiting request at 30 s, and one half-sent request blocks it for all.
worker_class = "web.gunicorn_worker.WalledThreadWorker"
threads = _settings.web_threads
backlog = 512
keepalive = 75  # longer than a router keeps its side
timeout = 30  # of the process's own heartbeat, not of a request
graceful_timeout = 28  # a stopping dyno has 30 s; all are answered from 20 s on, see gunicorn_worker
accesslog = None  # our own JSON line a request, see web/access_log.py
errorlog = "-"
loglevel = "warning"
control_socket_disable = True


def post_worker_init(_worker: object) -> None:
    """End the start of the process that serves: the application is loaded."""
    spare_what_stays()
