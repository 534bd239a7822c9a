"""One-use tickets in a real Redis."""

import threading

import pytest
import redis

from refund_agent.adapters.redis_client import connect
from refund_agent.adapters.redis_tickets import RedisTickets
from refund_agent.identity import TICKET_SECONDS, Customer, Identity, Staff, TicketsUnavailable

PATH = "/support/turns/8e03978e-40d5-43dd-bc93-6894a57f9324/events"
ALICE = Customer("alice: \u00fc\U0001f600")


@pytest.fixture
def tickets(redis_client: redis.Redis) -> RedisTickets:
    return RedisTickets(redis_client)


@pytest.mark.fault(53)
@pytest.mark.parametrize(
    "identity", [ALICE, Staff("s", "Dana", may_write=True), Staff("s", "Sam", may_write=False)]
)
def test_a_ticket_stands_for_its_identity_once(tickets: RedisTickets, identity: Identity) -> None:
    ticket = tickets.issue(identity, path=PATH)

    assert tickets.redeem(ticket, path=PATH) == identity
    assert tickets.redeem(ticket, path=PATH) is None


@pytest.mark.fault(53)
def test_at_another_path_it_is_used_up_for_nothing(tickets: RedisTickets) -> None:
    ticket = tickets.issue(ALICE, path=PATH)

    assert tickets.redeem(ticket, path=PATH + "/") is None
    assert tickets.redeem(ticket, path=PATH) is None


@pytest.mark.fault(53)
def test_it_lasts_thirty_seconds_and_is_not_in_redis_itself(
    tickets: RedisTickets, redis_client: redis.Redis
) -> None:
    ticket = tickets.issue(ALICE, path=PATH)
    (key,) = redis_client.keys("*")

    assert TICKET_SECONDS == 30
    assert 0 < redis_client.ttl(key) <= TICKET_SECONDS
    assert ticket.encode() not in key


@pytest.mark.parametrize("made_up", ["", "x", "x" * 65, "é", "\ud800", "tickets:*", "a\r\nb"])
def test_a_made_up_ticket_opens_nothing(tickets: RedisTickets, made_up: str) -> None:
    assert tickets.redeem(made_up, path=PATH) is None


@pytest.mark.fault(53)
def test_of_many_requests_with_one_ticket_one_gets_in(tickets: RedisTickets) -> None:
    ticket = tickets.issue(ALICE, path=PATH)
    gate, found = threading.Barrier(8), []

    def redeem() -> None:
        gate.wait(timeout=5)
        found.append(tickets.redeem(ticket, path=PATH))

    threads = [threading.Thread(target=redeem) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=5)

    assert sorted(found, key=str) == sorted([ALICE, *[None] * 7], key=str)


def test_without_redis_there_are_no_tickets() -> None:
    away = connect("redis://127.0.0.1:1/0", connections=1)
    tickets = RedisTickets(away)

    with pytest.raises(TicketsUnavailable):
        tickets.issue(ALICE, path=PATH)
    with pytest.raises(TicketsUnavailable):
        tickets.redeem("x", path=PATH)
    away.close()
