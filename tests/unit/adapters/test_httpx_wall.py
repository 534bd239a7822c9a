"""When a kept connection is past use: a question that many threads ask about the same one."""

import socket
from collections.abc import Iterator

import pytest

from refund_agent.adapters import httpx_wall
from refund_agent.adapters.httpx_wall import GIVEN_SECONDS, KEEPALIVE_SECONDS, _WalledStream


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(httpx_wall, "time", clock)
    return clock


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    near, far = socket.socketpair()
    with near, far:
        yield near, far


@pytest.fixture
def stream(clock: Clock, pair: tuple[socket.socket, socket.socket]) -> _WalledStream:
    return _WalledStream(pair[0])


def is_past_use(stream: _WalledStream) -> bool:
    return bool(stream.get_extra_info("is_readable"))


def test_an_idle_connection_is_used_for_some_seconds(stream: _WalledStream, clock: Clock) -> None:
    clock.now += KEEPALIVE_SECONDS - 0.1
    assert not is_past_use(stream)
    clock.now += GIVEN_SECONDS + 0.1
    assert is_past_use(stream)


def test_a_connection_that_was_just_given_away_is_not_closed_by_the_next_who_looks(
    stream: _WalledStream, clock: Clock
) -> None:
    clock.now += KEEPALIVE_SECONDS - 0.001
    assert not is_past_use(stream)  # and is given to one thread
    clock.now += 0.002
    assert not is_past_use(stream)  # another looks, a moment too late for itself


def test_a_connection_nobody_looked_at_for_long_is_past_use_at_once(
    stream: _WalledStream, clock: Clock
) -> None:
    clock.now += KEEPALIVE_SECONDS
    assert is_past_use(stream)


def test_looking_at_an_old_connection_keeps_it_no_longer(stream: _WalledStream, clock: Clock) -> None:
    clock.now += KEEPALIVE_SECONDS - 0.1
    assert not is_past_use(stream)
    for _ in range(4):
        clock.now += GIVEN_SECONDS / 4
        is_past_use(stream)
    assert is_past_use(stream)


def test_what_was_read_makes_it_young_again(
    stream: _WalledStream, clock: Clock, pair: tuple[socket.socket, socket.socket]
) -> None:
    clock.now += KEEPALIVE_SECONDS
    pair[1].sendall(b"answer")
    assert stream.read(100) == b"answer"
    assert not is_past_use(stream)


def test_a_connection_that_the_far_side_closed_is_past_use(
    stream: _WalledStream, pair: tuple[socket.socket, socket.socket]
) -> None:
    pair[1].close()
    assert is_past_use(stream)
