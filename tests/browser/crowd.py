"""Two hundred customers before a slow model, each asking again as soon as they are answered."""

import random
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus

from sandbox.answers import Answer, Delayed, Reply, Request
from sandbox.model import Model
from tests.browser.shop import ADA, Shop
from tests.functional.stand import wait_until

SETTINGS = {
    "WORKER_CONCURRENCY": "220",
    "WEB_THREADS": "300",
    "MAX_OPEN_TURNS": "1000",
    "CONVERSATION_TURNS": "10000",
    "CONVERSATION_TOKENS": "10000000",
    "TURN_DEADLINE_SECONDS": "120",
}
SLOW_SECONDS = (5.0, 15.0)
"""What a completion takes, evenly spread; a turn takes two."""
ASKED = "Where is ORD-1001?"
AT_ONCE = 20
"""They come one after the other, as customers do."""


class BusyModel(Model):
    """Is slow with the crowd's messages, and quick with others."""

    def __init__(self) -> None:
        super().__init__()
        self._chance = random.Random(0)

    def answer(self, request: Request) -> Answer:
        answer = super().answer(request)
        if ASKED.encode() not in request.body or not isinstance(answer, Reply):
            return answer
        return Delayed(self._chance.uniform(*SLOW_SECONDS), answer)


@contextmanager
def crowd_of(customers: int, shop: Shop) -> Generator[None]:
    """Let so many turns run, each in a conversation of its own, from its beginning to its end."""
    gone, token = threading.Event(), shop.token(ADA)

    def ask_again_and_again() -> None:
        conversation_id = ""
        while not gone.is_set():
            answer = shop.ask(ASKED, token=token, conversation_id=conversation_id)
            if answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
                gone.wait(float(answer.headers["Retry-After"]))  # as the chat does
                continue
            assert answer.ok, answer.text
            conversation_id = answer.json()["conversation_id"]

    with ThreadPoolExecutor(customers) as pool:
        asking = []
        try:
            for number in range(customers):
                asking.append(pool.submit(ask_again_and_again))
                if number % AT_ONCE == 0:
                    wait_until(partial(enough_run, shop, number))
            wait_until(partial(enough_run, shop, customers))
            yield
        finally:
            gone.set()
        wait(asking)
        for one in asking:
            one.result()


def enough_run(shop: Shop, turns: int) -> bool:
    """Whether nearly so many turns run: some of the customers are just being answered."""
    return running(shop) >= turns * 9 // 10


def running(shop: Shop) -> int:
    """Return how many turns run now."""
    return sum(turn["state"] == "running" for turn in shop.turns())
