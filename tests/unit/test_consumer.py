"""A worker that lost its broker is back soon after the broker is."""

from itertools import pairwise
from typing import Any

import pytest
from kombu import Connection
from redis.exceptions import ConnectionError as BrokerAway

from tasks.app import app
from tasks.consumer import RECONNECT_SECONDS, TurnConsumer

OUTAGE_SECONDS = 120.0


class Back(Exception):
    """The broker is back."""


def unconnected_consumer() -> TurnConsumer:
    """Return a consumer of which nothing but the connecting is used."""
    consumer = TurnConsumer.__new__(TurnConsumer)
    vars(consumer).update(
        app=app, first_connection_attempt=False, broker_connection_retry_attempt=0, restart_count=1
    )
    return consumer


def test_a_worker_tries_its_broker_again_every_few_seconds_however_long_the_outage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    tried_at: list[float] = []

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    def refused() -> Any:
        tried_at.append(now)
        raise BrokerAway("connection refused") if now < OUTAGE_SECONDS else Back

    connection = Connection("redis://127.0.0.1:1/0")
    monkeypatch.setattr("kombu.utils.functional.sleep", sleep)
    monkeypatch.setattr(connection, "_connection_factory", refused)

    with pytest.raises(Back):
        unconnected_consumer().ensure_connected(connection)

    assert max(later - sooner for sooner, later in pairwise(tried_at)) == RECONNECT_SECONDS
