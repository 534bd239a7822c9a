"""A PostgreSQL connection whose every step ends in time, also when the server accepts and then freezes.

`statement_timeout` is kept by the server, so a frozen server does not keep it; this is kept here.
"""

from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus

STEP_SECONDS = 1.5

_Value = TypeVar("_Value")


class WalledConnection(psycopg.Connection[Any]):
    """Waits at most `STEP_SECONDS` for an answer, then closes itself and raises `OperationalError`."""

    def wait(self, gen: PQGen[_Value], interval: float = 0.1, timeout: float | None = None) -> _Value:
        """Wait for one step: a BEGIN, a statement or a COMMIT."""
        try:
            return super().wait(gen, interval, STEP_SECONDS if timeout is None else timeout)
        except psycopg.OperationalError:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.close()  # the answer may still come, and must not be taken for the next one
            raise
