"""How times and amounts are written in the console. Times are UTC: everybody reads the same one."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from refund_agent.money import write_cents

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND_MS: Final = 1000
_MINUTE_MS: Final = 60_000
_HOUR_MS: Final = 3_600_000
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


def write_time(at_ms: int) -> str:
    """Return `2026-11-30 08:05`, in UTC."""
    return f"{_moment(at_ms):%Y-%m-%d %H:%M}"


def write_machine_time(at_ms: int) -> str:
    """Return the same for a program, as the `datetime` of a `<time>`."""
    return f"{_moment(at_ms):%Y-%m-%dT%H:%M:%SZ}"


def write_span(seconds: float) -> str:
    """Return a length of time roughly, such as `45 s`, `12 min` or `3 d`."""
    whole = int(abs(seconds))
    for size, unit in _UNITS:
        if whole >= size:
            return f"{whole // size} {unit}"
    return f"{whole} s"


def write_ms(ms: int) -> str:
    """Write a length of time: `40 ms`, `1.25 s`, `2 min 5 s`. Whole milliseconds in, no float."""
    if ms < _SECOND_MS:
        return f"{ms} ms" if ms else "0 s"
    if ms < _MINUTE_MS:
        hundredths = f"{ms % _SECOND_MS // 10:02}".rstrip("0")
        return f"{ms // _SECOND_MS}{f'.{hundredths}' if hundredths else ''} s"
    if ms >= _HOUR_MS:
        hours, minutes = divmod(ms // _MINUTE_MS, 60)
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    minutes, seconds = divmod(ms // _SECOND_MS, 60)
    return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"


def write_cost(microdollars: int | None) -> str:
    """Write a cost in dollars, to a hundredth of a cent."""
    if microdollars is None:
        return "not known"
    hundredths = -(-microdollars // 100)
    return f"${hundredths // 10_000}.{hundredths % 10_000:04}"


def _moment(at_ms: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=at_ms)


FILTERS: Final[Mapping[str, Callable[..., str]]] = {
    "amount": write_cents,
    "time": write_time,
    "machine_time": write_machine_time,
    "span": write_span,
    "ms": write_ms,
    "cost": write_cost,
}
"""What every template may call."""
