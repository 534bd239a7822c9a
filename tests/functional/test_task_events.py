"""What Flower is told of a turn, from a real worker: its course as task events, many in one message."""

from celery import Celery

from tests.functional.stand import Stand, wait_until
from tests.functional.watching import CommandWatch, EventWatch

PHASES = ["task-thinking", "task-asking-payments", "task-thinking"]
OWN = ["task-received", "task-started", "task-succeeded"]
"""Celery's own events."""


def test_flower_is_told_the_whole_course_of_a_turn(stand: Stand) -> None:
    watch = EventWatch(Celery(broker=stand.redis_url))

    def told(turn_id: str) -> list[str]:
        return [str(event["type"]) for event in list(watch.seen) if event.get("uuid") == turn_id]

    with watch:
        turn_id = stand.chat("refund 5.00 for order A1").headers["X-Turn-Id"]
        wait_until(lambda: len(told(turn_id)) >= len(PHASES + OWN))

    assert [name for name in told(turn_id) if name in PHASES] == PHASES
    assert sorted(name for name in told(turn_id) if name not in PHASES) == OWN


def test_the_events_of_many_turns_travel_together(stand: Stand) -> None:
    commands, events = CommandWatch(stand.redis_url), EventWatch(Celery(broker=stand.redis_url))

    def told() -> int:
        return sum("uuid" in event for event in list(events.seen))

    with events, commands:
        asked = [stand.chat_soon(f"refund 5.00 for order B{number}") for number in range(12)]
        assert [one.result().status_code for one in asked] == [200] * 12
        wait_until(lambda: told() >= 12 * 6)

    messages = [seen for seen in commands.seen if "PUBLISH" in seen and "task.multi" in seen]
    assert 0 < len(messages) < 12 * 6 / 2
