"""Answers that wait until they are told to come: for a look at a page in the middle of a turn or a load."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from playwright.sync_api import Page, Route

from sandbox.answers import Answer
from sandbox.conversation import Conversation
from sandbox.model import Model
from sandbox.script_parts import plain

MOST_SECONDS = 15.0


@contextmanager
def held_completion(model: Model, *, after: int = 0) -> Generator[None]:
    """Let the next completion, after so many others, wait until the context closes; all are plain English."""
    go_on = threading.Event()

    def held(conversation: Conversation) -> Answer:
        go_on.wait(MOST_SECONDS)
        return plain(conversation)

    asked = model.request_count
    model.will(*[plain] * after, held)
    try:
        yield
        assert model.wait_for_requests(asked + after + 1), "nothing was asked that could be held"
    finally:
        go_on.set()


def held_requests(page: Page, url: str) -> list[Route]:
    """Return a list that will hold every request of this page for `url`; each waits for its `continue_()`."""
    held: list[Route] = []
    page.route(url, lambda route: held.append(route))  # noqa: PLW0108 - takes no built-in
    return held
