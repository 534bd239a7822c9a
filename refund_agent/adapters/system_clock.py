"""The process's clock."""

import time
from datetime import UTC, date, datetime


class SystemClock:
    """Implements the port `Clock`."""

    def monotonic(self) -> float:
        """Seconds on a clock that never jumps."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Do nothing for this long."""
        time.sleep(seconds)  # noqa: TID251 - this is the clock

    def today(self) -> date:
        """Return the day, in UTC."""
        return datetime.now(UTC).date()  # noqa: TID251 - this is the clock
