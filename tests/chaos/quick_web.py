"""The web's server as it is, but answering all two seconds after SIGTERM: a test can wait for that."""

from web.gunicorn_worker import WalledThreadWorker


class QuickWorker(WalledThreadWorker):
    """The production worker with a shorter time."""

    answer_all_seconds = 2.0
