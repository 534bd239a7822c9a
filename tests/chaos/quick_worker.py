"""The worker as it is, but handing turns over two seconds after SIGTERM: a test can wait for that."""

from tasks import upkeep
from tasks.app import app

__all__ = ["app"]

upkeep.HAND_OVER_AFTER_SECONDS = 2.0
