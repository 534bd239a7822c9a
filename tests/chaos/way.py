"""A way to an outside system that several causes may block at once."""

import threading
from typing import Literal, Self, TypeAlias

from tests.functional.proxy import TcpProxy

How: TypeAlias = Literal["cut", "frozen"]


class Way:
    """A TCP way to `target_port`; open while nobody blocks it, else as the latest block says."""

    def __init__(self, target_port: int) -> None:
        self._proxy = TcpProxy(target_port)
        self._blocks: dict[str, How] = {}
        self._now: How | Literal["open"] = "open"
        self._lock = threading.Lock()

    @property
    def port(self) -> int:
        return self._proxy.port

    def __enter__(self) -> Self:
        self._proxy.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._proxy.__exit__()

    def block(self, cause: str, how: How) -> None:
        """`cut` drops every connection and refuses new ones; `frozen` lets no byte through."""
        with self._lock:
            self._blocks.pop(cause, None)
            self._blocks[cause] = how
            self._apply()

    def clear(self, cause: str) -> None:
        """Take this cause's block away."""
        with self._lock:
            self._blocks.pop(cause, None)
            self._apply()

    def _apply(self) -> None:
        wanted = list(self._blocks.values())[-1] if self._blocks else "open"
        if wanted == self._now:
            return
        if wanted == "open" or self._now == "cut":
            self._proxy.heal()
        if wanted == "cut":
            self._proxy.refuse()
        elif wanted == "frozen":
            self._proxy.freeze()
        self._now = wanted
