"""Our Celery application talks to Redis through one client, and through a new one when it must."""

from typing import Any, cast

import pytest
import redis

from tasks.app import app
from tasks.transport import KeepingTransport


@pytest.mark.parametrize("scheme", ["redis", "rediss"])
def test_our_transport_serves_both_schemes_and_leaves_the_address_as_it_is(scheme: str) -> None:
    connection = app.connection_for_write(f"{scheme}://:secret@127.0.0.1:1/3")

    assert isinstance(connection.transport, KeepingTransport)
    assert connection.as_uri() == f"{scheme}://:**@127.0.0.1:1/3"
    assert cast("Any", connection.transport).driver_type == "redis"  # what Flower asks for


def test_a_hundred_messages_are_published_through_one_client(
    monkeypatch: pytest.MonkeyPatch, redis_url: str, redis_client: redis.Redis
) -> None:
    made: list[object] = []
    make: Any = vars(redis.Redis)["__init__"]

    def count(self: redis.Redis, **given: Any) -> None:
        made.append(self)
        make(self, **given)

    monkeypatch.setattr(redis.Redis, "__init__", count)
    with app.connection_for_write(redis_url) as connection, connection.SimpleQueue("letters") as letters:
        letters.put(0)
        made.clear()
        for number in range(1, 100):
            letters.put(number)

    assert made == []
    assert redis_client.llen("letters") == 100


def test_a_pool_that_was_replaced_gets_a_new_client(redis_url: str, redis_client: redis.Redis) -> None:
    with app.connection_for_write(redis_url) as connection, connection.SimpleQueue("letters") as letters:
        channel: Any = letters.channel
        letters.put(1)
        before = channel._kept  # noqa: SLF001 - what this is about
        channel._disconnect_pools()  # noqa: SLF001 - as kombu does after an error
        letters.put(2)

        assert channel._kept is not before  # noqa: SLF001 - what this is about
        assert channel._kept.connection_pool is channel.pool  # noqa: SLF001 - same

    assert redis_client.llen("letters") == 2
