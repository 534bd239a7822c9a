"""How this service opens Redis: few connections, short times, and never a second try of its own."""

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

SOCKET_SECONDS = 1.0


def connect(url: str, *, connections: int) -> redis.Redis:
    """Return a client that holds at most `connections`; opens none yet. A full pool waits a second."""
    pool = redis.BlockingConnectionPool.from_url(
        url,
        max_connections=connections,
        timeout=1.0,
        socket_timeout=SOCKET_SECONDS,
        socket_connect_timeout=SOCKET_SECONDS,
        socket_keepalive=True,
        health_check_interval=25,
        retry=Retry(NoBackoff(), 0),
    )
    return redis.Redis(connection_pool=pool)
