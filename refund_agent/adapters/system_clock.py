"""The process's clock."""

import time
from datetime import UTC, date, datetime
from typing import Final


def monotonic() -> float:
    """Seconds on a clock that never jumps, and that goes on while the machine is suspended where it can."""
    return time.clock_gettime(_CLOCK) if _CLOCK is not None else time.monotonic()


_CLOCK: Final[int | None] = getattr(time, "CLOCK_BOOTTIME", None)
"""Linux has it. There `time.monotonic` stands still in a suspension, and an old claim would look fresh."""


class SystemClock:
    """Implements the port `Clock`."""

    def monotonic(self) -> float:
        """Seconds on a clock that never jumps."""
        return monotonic()

    def sleep(self, seconds: float) -> None:
        """Do nothing for this long."""
        time.sleep(seconds)  # noqa: TID251 - this is the clock

    def today(self) -> date:
        """Return the day, in UTC."""
        return datetime.now(UTC).date()  # noqa: TID251 - this is the clock
