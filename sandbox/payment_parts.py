"""One refund request in the hands of a mode, and the pieces that modes are made of."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

from sandbox import broken
from sandbox.answers import Answer, Delayed, Raw, Reply, Wire, as_json

Moves: TypeAlias = Literal["no", "yes", "twice", "late", "by chance"]


MAX_SECONDS = 3600.0


@dataclass(slots=True)
class Pace:
    """How long things take, in seconds, and where the `-away` redirects point."""

    delay_seconds: float = 0.0
    slow_seconds: float = 12.0
    late_seconds: float = 3.0
    drip_seconds: float = 0.2
    redirect_url: str = "http://127.0.0.1:9/elsewhere"

    def changed(self, **fields: float | str) -> "Pace":
        """Return the pace with some fields changed; raise KeyError or ValueError for a wrong one."""
        given = asdict(self)
        for name, value in fields.items():
            given[name] = str(value) if isinstance(given[name], str) else float(value)
            if isinstance(given[name], float) and not 0 <= given[name] <= MAX_SECONDS:
                raise ValueError(f"{name} must be from 0 to {MAX_SECONDS:g} seconds")
        return Pace(**given)


@dataclass(frozen=True, slots=True)
class Refund:
    """One movement of money, and the mode that was on."""

    refund_id: str
    order_id: str
    amount_cents: int
    mode: str


@dataclass(frozen=True, slots=True)
class RefundCall:
    """One refund request in the hands of a mode. `move` moves its money now."""

    refund_id: str
    amount_cents: int
    pace: Pace
    first_on_connection: bool
    move: Callable[[], None]

    def receipt(self, **changes: object) -> dict[str, object]:
        """Return the receipt; a change to `...` leaves the key out."""
        true = {"refund_id": self.refund_id, "status": "succeeded", "amount_cents": self.amount_cents}
        return {key: value for key, value in (true | changes).items() if value is not ...}

    def ok(self, **changes: object) -> Reply:
        """Return the receipt with 200."""
        return as_json(self.receipt(**changes))


Play: TypeAlias = Callable[[RefundCall], Answer]


@dataclass(frozen=True, slots=True)
class Mode:
    """One row of the table. A mode with `draws` is one of those modes each time, by seeded chance."""

    name: str
    moves: Moves
    about: str
    play: Play
    draws: tuple[str, ...] = ()


def detail(status: int, text: object) -> Play:
    """Refuse with the service's own JSON."""
    hint = (("Retry-After", "1"),) if status in {429, 503} else ()
    return lambda _: as_json({"detail": text}, status, *hint)


def page(status: int) -> Play:
    """Answer with a gateway's HTML."""
    return lambda _: broken.html(status)


def body(text: str) -> Play:
    """Answer 200 with this body instead of a receipt."""
    return lambda _: Reply(200, text.encode())


def bare(status: int) -> Play:
    """Answer a success that brings no receipt."""
    return lambda _: Reply(status)


def raw(answer: Raw) -> Play:
    """Misbehave on the wire, whatever was asked."""
    return lambda _: answer


def badly(way: Callable[[Reply], Answer]) -> Play:
    """Give the right receipt in a wrong way."""
    return lambda call: way(call.ok())


def receipt(**changes: object) -> Play:
    """Give a receipt with some fields changed, or left out when changed to `...`."""
    return lambda call: call.ok(**changes)


def created(call: RefundCall) -> Answer:
    """Give the receipt with 201."""
    return as_json(call.receipt(), 201)


def redirect_to_itself(status: int) -> Play:
    """Redirect to the very address that was asked."""
    return lambda _: Reply(status, headers=(("Location", "refunds"),))


def redirect_away(status: int) -> Play:
    """Redirect to another address."""
    return lambda call: Reply(status, headers=(("Location", call.pace.redirect_url),))


def slow(call: RefundCall) -> Answer:
    """Give the receipt late."""
    return Delayed(call.pace.slow_seconds, call.ok())


def accept_late(call: RefundCall) -> Answer:
    """Say nothing until the client has gone; then move the money after a while."""

    def answer(wire: Wire) -> None:
        wire.wait_until_gone()
        if wire.outlive(call.pace.late_seconds):
            call.move()

    return answer


def stale_keep_alive(call: RefundCall) -> Answer:
    """Answer the first request of a connection; accept the next and close silently."""
    return call.ok() if call.first_on_connection else broken.drop


def drip_headers(call: RefundCall) -> Answer:
    """Give the receipt byte by byte, from the status line on."""
    return broken.dripped_headers(call.ok(), interval_seconds=call.pace.drip_seconds)


def drip_body(call: RefundCall) -> Answer:
    """Give the headers at once and the receipt byte by byte."""
    return broken.dripped_body(call.ok(), interval_seconds=call.pace.drip_seconds)


def amount_written(write: Callable[[int], object]) -> Play:
    """Give a receipt whose amount is written in another way."""
    return lambda call: call.ok(amount_cents=write(call.amount_cents))


def bigint(call: RefundCall) -> Answer:
    """Give an amount of 5,000 digits."""
    digits = f'"amount_cents": {"9" * 5000}'
    return Reply(
        200, json.dumps(call.receipt()).replace(f'"amount_cents": {call.amount_cents}', digits).encode()
    )


def latin_1(call: RefundCall) -> Answer:
    """Give a receipt with a byte that is not UTF-8."""
    return Reply(200, json.dumps(call.receipt(note="caf\u00e9"), ensure_ascii=False).encode("latin-1"))
