"""Kombu's Redis transport with one of its habits changed.

For each message that it publishes, takes or acknowledges, kombu makes a client, and that is a tenth of a web
process's CPU and a sixteenth of a worker's (measured). A client is a thin cover over its pool: one will do.
"""

from collections.abc import Generator
from contextlib import contextmanager

import redis
from kombu.transport import TRANSPORT_ALIASES
from kombu.transport.redis import Channel, Transport


class KeepingChannel(Channel):
    """Lends one client over its pool, again and again."""

    _kept: redis.Redis | None = None

    @contextmanager
    def conn_or_acquire(self, client: redis.Redis | None = None) -> Generator[redis.Redis]:
        """Lend the client that is given, or the kept one; a new one when kombu has replaced the pool."""
        if client is not None:
            yield client
            return
        kept = self._kept
        if kept is None or kept.connection_pool is not self.pool:
            with super().conn_or_acquire() as kept:
                self._kept = kept
        yield kept


class KeepingTransport(Transport):
    """Kombu's transport with our channels."""

    Channel = KeepingChannel


def use_keeping_transport() -> None:
    """Make it this process's transport for `redis://` and `rediss://`."""
    # Not by Celery's `broker_transport`: from such an address Flower cannot tell the broker's kind.
    ours = f"{KeepingTransport.__module__}:{KeepingTransport.__name__}"
    TRANSPORT_ALIASES.update(redis=ours, rediss=ours)
