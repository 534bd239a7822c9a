"""Drives turns in a closed loop: so many callers at once, each asking again as soon as it is answered."""

import http.client
import itertools
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

STAGGER_SECONDS = 0.45
"""The callers start over about one turn's time, so that they do not march in step for the whole run."""
CALL_SECONDS = 60.0

OneTurn: TypeAlias = Callable[[str], None]
"""Asks one message and raises whatever is wrong with the answer. Used by one thread only."""


@dataclass(slots=True)
class Driven:
    """What the callers saw: milliseconds a turn, turns a second in full swing, and what went wrong."""

    took_ms: list[float] = field(default_factory=list[float])
    per_second: float = 0.0
    errors: list[str] = field(default_factory=list[str])


def message(order_id: str) -> str:
    """Say what the scripted model answers with one refund of 5.00 and then a text."""
    return f"refund 5.00 for order {order_id}"


def drive(make_caller: Callable[[], OneTurn], *, prefix: str, at_once: int, seconds: float) -> Driven:
    """Ask for `seconds`, wait for what is under way, and tell. Order ids are `<prefix>-<number>`."""
    driven, numbers, ended_at = Driven(), itertools.count(1), list[float]()
    first = time.monotonic()
    last = first + STAGGER_SECONDS + seconds

    def call(place: int) -> None:
        one_turn = make_caller()
        time.sleep(STAGGER_SECONDS * place / at_once)  # noqa: TID251 - load is made in real time
        while (asked_at := time.monotonic()) < last:
            try:
                one_turn(message(f"{prefix}-{next(numbers)}"))
            except Exception as error:  # noqa: BLE001 - every failure is counted, and shown
                driven.errors.append(f"{type(error).__name__}: {error}")
            else:
                ended_at.append(time.monotonic())
                driven.took_ms.append((ended_at[-1] - asked_at) * 1000)

    threads = [threading.Thread(target=call, args=(place,)) for place in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    driven.per_second = sum(first + STAGGER_SECONDS < end <= last for end in ended_at) / seconds
    return driven


def http_caller(host: str, port: int, path: str) -> OneTurn:
    """Make a caller that posts over one kept connection. `http.client` is light: 0.2 ms of CPU a turn."""
    connection = http.client.HTTPConnection(host, port, timeout=CALL_SECONDS)

    def one_turn(text: str) -> None:
        body = json.dumps({"user_id": "bench", "message": text})
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        said = json.loads(answer.read())
        if answer.status != http.HTTPStatus.OK or not said["reply"]:
            raise AssertionError(f"HTTP {answer.status}: {said}")

    return one_turn
