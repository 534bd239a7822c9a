"""How many streams there may be: each holds a thread, and the chat needs most of them."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Final

from web.kinds import Kind
from web.problems import Problem, Refused

STREAMS_PER_VIEWER: Final = 5
SHARE_OF_THREADS: Final = 4
"""One thread in so many may hold a stream."""
RETRY_AFTER: Final = {"Retry-After": "10"}


class StreamPlaces:
    """The places of one process."""

    def __init__(self, *, web_threads: int, per_viewer: int = STREAMS_PER_VIEWER) -> None:
        self._most = max(1, web_threads // SHARE_OF_THREADS)
        self._per_viewer = per_viewer
        self._taken: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def taken(self) -> int:
        """How many places are taken now."""
        with self._lock:
            return self._taken.total()

    def take(self, viewer: str) -> Callable[[], None]:
        """Take a place and return what gives it back, once; raise `Refused` when there is none."""
        with self._lock:
            if self._taken[viewer] >= self._per_viewer:
                detail = (
                    f"At most {self._per_viewer} streams may be open at a time. Close one, or poll the turn."
                )
                raise Refused(Problem(Kind.TOO_MANY_STREAMS, detail, headers=RETRY_AFTER))
            if self._taken.total() >= self._most:
                detail = "All streams are taken. Poll the turn, or try again after `Retry-After`."
                raise Refused(Problem(Kind.STREAMS_FULL, detail, headers=RETRY_AFTER))
            self._taken[viewer] += 1
        return _once(lambda: self._give_back(viewer))

    def _give_back(self, viewer: str) -> None:
        with self._lock:
            self._taken[viewer] -= 1
            if not self._taken[viewer]:
                del self._taken[viewer]


def _once(act: Callable[[], None]) -> Callable[[], None]:
    acts = [act]

    def first_time() -> None:
        if acts:
            acts.pop()()

    return first_time
