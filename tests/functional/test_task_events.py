"""What Flower is told of a turn, from a real worker: its course as task events, a few in one message."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from celery import Celery

from tests.functional.stand import Stand, wait_until


@contextmanager
def watched(redis_url: str) -> Iterator[list[Any]]:
    """Gather the bodies of all event messages, each one event or a list of them."""
    flower, bodies = Celery(broker=redis_url), list[Any]()
    ready, over = threading.Event(), threading.Event()

    def watch() -> None:
        with flower.connection_for_read() as connection:
            receiver = flower.events.Receiver(connection)
            receiver._receive = lambda body, _message: bodies.append(body)  # noqa: SLF001 - the only place that still sees what came as one
            with receiver.consumer_context(wakeup=False) as (own, _, _):
                ready.set()
                while not over.is_set():
                    try:
                        own.drain_events(timeout=0.1)
                    except TimeoutError:
                        continue

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    assert ready.wait(5.0)
    yield bodies
    over.set()
    thread.join(5.0)


def worker_messages(bodies: list[Any], *, events: int) -> list[list[Any]]:
    """Wait until the worker has told so many events; return its messages, each a list of events."""

    def messages() -> list[list[Any]]:
        return [body for body in list(bodies) if isinstance(body, list)]

    wait_until(lambda: sum(map(len, messages())) >= events)
    return messages()


def test_flower_is_told_the_whole_course_of_a_turn(stand: Stand) -> None:
    with watched(stand.redis_url) as bodies:
        turn_id = stand.chat("refund 5.00 for order A1").headers["X-Turn-Id"]
        messages = worker_messages(bodies, events=6)

    seen = [event["type"] for message in messages for event in message if event["uuid"] == turn_id]
    phases = [name for name in seen if name in {"task-thinking", "task-asking-payments"}]
    assert phases == ["task-thinking", "task-asking-payments", "task-thinking"]
    assert sorted(set(seen) - set(phases)) == ["task-received", "task-started", "task-succeeded"]


def test_the_events_of_many_turns_travel_together(stand: Stand) -> None:
    with watched(stand.redis_url) as bodies:
        asked = [stand.chat_soon(f"refund 5.00 for order B{number}") for number in range(12)]
        assert [one.result().status_code for one in asked] == [200] * 12
        messages = worker_messages(bodies, events=12 * 6)

    assert sum(map(len, messages)) == 12 * 6
    assert len(messages) < 12 * 6 / 2
