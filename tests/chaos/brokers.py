"""The Redis of one lane: a Valkey of its own, or a database number on the server of TEST_REDIS_URL."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Protocol

import redis
from redis.exceptions import RedisError
from sqlalchemy import make_url

from tests.conftest import REDIS_SERVER
from tests.functional.fragile_redis import FragileRedis

FIRST_NUMBER = 9
"""Lanes count down from here; the other tests' databases are 10 and above."""


class Broker(Protocol):
    """A Redis that can lose everything."""

    @property
    def url(self) -> str:
        """The direct way to it."""
        ...

    def vanish(self) -> None:
        """Lose everything it holds; what is connected to it is cut off by the lane."""
        ...

    def come_back(self) -> None:
        """Be there again, empty."""
        ...


class OwnBroker(FragileRedis):
    """A process of its own: it really ends."""

    def vanish(self) -> None:
        self.stop()

    def come_back(self) -> None:
        self.start()


class SharedBroker:
    """One database of a server that others use as well: it is emptied."""

    def __init__(self, url: str) -> None:
        self.url = url

    def vanish(self) -> None:
        with redis.Redis.from_url(self.url) as client:
            client.flushdb()

    def come_back(self) -> None:
        pass


@contextmanager
def open_broker(lane: int) -> Generator[Broker]:
    """Give a lane its Redis, empty."""
    if not REDIS_SERVER:
        with OwnBroker() as own:
            yield own
        return
    url = make_url(REDIS_SERVER).set(database=str(FIRST_NUMBER - lane))
    shared = SharedBroker(url.render_as_string(hide_password=False))
    shared.vanish()
    yield shared
    shared.vanish()


def consumers(url: str) -> int:
    """How many workers wait for a message in this Redis database now; 0 when it cannot be asked."""
    number = str(make_url(url).database or 0)
    try:
        with redis.Redis.from_url(url) as client:
            clients: list[dict[str, Any]] = client.client_list()
    except RedisError:
        return 0
    return sum(client["cmd"] == "brpop" and client["db"] == number for client in clients)
