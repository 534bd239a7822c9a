"""A wall short enough for a test, and a receipt as it comes over a bare wire."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from refund_agent.adapters.http_payments import HttpPayments
from tests.unit.adapters.conftest import TOKEN

WALL_SECONDS = 0.3
SLACK_SECONDS = 0.7
"""What a busy machine may add. Without a wall the shortest of these calls takes five seconds."""

RECEIPT = b'HTTP/1.1 200 OK\r\n\r\n{"refund_id": "rf_1", "status": "succeeded", "amount_cents": 500}'


@contextmanager
def within_the_wall() -> Iterator[None]:
    """Fail if the block takes longer than the wall and a little."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < WALL_SECONDS + SLACK_SECONDS


def hurried_to(port: int, *, scheme: str = "http", ca_file: str | None = None) -> HttpPayments:
    return HttpPayments(f"{scheme}://127.0.0.1:{port}", TOKEN, WALL_SECONDS, ca_file=ca_file)
