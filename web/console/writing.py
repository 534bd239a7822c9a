"""How times and amounts are written in the console. Times are UTC: everybody reads the same one."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from refund_agent.money import write_cents

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
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


def _moment(at_ms: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=at_ms)


FILTERS: Final[Mapping[str, Callable[..., str]]] = {
    "amount": write_cents,
    "time": write_time,
    "machine_time": write_machine_time,
    "span": write_span,
}
"""What every template may call."""
