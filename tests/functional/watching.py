"""Looks over the broker's shoulder: every command that Redis is given, every event that Celery sends."""

import base64
import json
import threading
import uuid
from contextlib import suppress
from typing import Any

import redis
from celery import Celery

READY_SECONDS = 5.0


def unwrapped(command: str) -> str:
    """Give a Redis command with the bodies of Celery's messages in it decoded as well."""
    start = command.find("{")
    try:
        body = json.loads(command[start:])["body"]
    except (ValueError, TypeError, KeyError):
        return command
    return command + base64.b64decode(body).decode("utf-8")


class CommandWatch:
    """Keeps every command that Redis is given."""

    def __init__(self, url: str) -> None:
        self.seen: list[str] = []
        self._url = url
        self._stop = f"stop-{uuid.uuid4().hex}"
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()
        assert self._ready.wait(READY_SECONDS)

    def __exit__(self, *_: object) -> None:
        with redis.Redis.from_url(self._url) as client:
            client.echo(self._stop)
        self._thread.join(READY_SECONDS)

    def _watch(self) -> None:
        with redis.Redis.from_url(self._url) as client, client.monitor() as monitor:
            self._ready.set()
            while self._stop not in (command := str(monitor.next_command()["command"])):
                self.seen.append(command)


class EventWatch:
    """Keeps every event that Celery sends."""

    def __init__(self, broker: Celery) -> None:
        self.seen: list[dict[str, Any]] = []
        self._broker = broker
        self._stopping = threading.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()
        assert self._ready.wait(READY_SECONDS)

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join(READY_SECONDS)

    def _watch(self) -> None:
        with self._broker.connection_for_read() as connection:
            receiver = self._broker.events.Receiver(connection, handlers={"*": self.seen.append})
            with receiver.consumer_context(wakeup=False) as (own, _, _):
                while not self._stopping.is_set():
                    with suppress(TimeoutError):
                        own.drain_events(timeout=0.1)
                    self._ready.set()  # not earlier: only draining subscribes
