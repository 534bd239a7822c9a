"""The payments stand-in: `POST /refunds` moves money every time, as the real one does.

payments = Payments()
payments.will("accept-then-drop")          # the next request; then `payments.mode` again
with serve(payments) as server: ...        # PAYMENTS_URL = server.url
assert payments.moved == [("A1", 500)]
"""

import itertools
import random
import threading
from collections import deque
from dataclasses import asdict, dataclass
from urllib.parse import parse_qs

from sandbox import broken, pages
from sandbox.answers import Answer, Delayed, Json, Raw, Reply, Request, as_json
from sandbox.payment_modes import MODES
from sandbox.payment_parts import Mode, Pace, Refund, RefundCall

REFUNDS_PATH = "/refunds"
KEPT_REQUESTS = 10_000


@dataclass(frozen=True, slots=True)
class PaymentRequest:
    """One POST that reached us; `body` is None when it is not JSON. `mode`: what answered it."""

    headers: dict[str, str]
    body: Json
    raw: bytes
    mode: str


class Payments:
    """The service, its ledger, and the handles by which tests and people make it misbehave."""

    def __init__(self, *, mode: str = "ok", delay_seconds: float = 0.0) -> None:
        self.pace = Pace(delay_seconds=delay_seconds)
        self._changed = threading.Condition()
        self.mode = mode
        self.reset()

    def reset(self) -> None:
        """Forget everything but the mode and the pace."""
        with self._changed:
            self.refunds: list[Refund] = []
            self.requests: deque[PaymentRequest] = deque(maxlen=KEPT_REQUESTS)
            self.request_count = 0
            self.followed_redirects = 0
            self._next: deque[Mode] = deque()
            self._ids = itertools.count(1)
            self._chance = random.Random(0)  # noqa: S311 - repeatable, not secret

    @property
    def moved(self) -> list[tuple[str, int]]:
        """Every refund that moved money: order id and cents, in order."""
        with self._changed:
            return [(refund.order_id, refund.amount_cents) for refund in self.refunds]

    @property
    def mode(self) -> str:
        """The name of the mode that answers when nothing else was asked for."""
        return self._mode.name

    @mode.setter
    def mode(self, name: str) -> None:
        self._mode = MODES[name]

    @property
    def delay_seconds(self) -> float:
        """Seconds before any answer; the money moves at once."""
        return self.pace.delay_seconds

    @delay_seconds.setter
    def delay_seconds(self, seconds: float) -> None:
        self.pace.delay_seconds = seconds

    def will(self, *modes: str) -> None:
        """Answer the next requests in these modes, one each."""
        with self._changed:
            self._next.extend([MODES[name] for name in modes])

    def wait_for_requests(self, count: int, *, timeout_seconds: float = 5.0) -> bool:
        """Wait until `count` POSTs have arrived; False when the time is over."""
        with self._changed:
            return self._changed.wait_for(lambda: self.request_count >= count, timeout_seconds)

    def wait_for_moved(self, count: int, *, timeout_seconds: float = 5.0) -> bool:
        """Wait until money has moved `count` times; False when the time is over."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.refunds) >= count, timeout_seconds)

    # --- the server's side ------------------------------------------------------------------------

    def opening(self, path: str) -> Raw | None:
        """Reset the connection before the request is read, if that is the mode."""
        if path != REFUNDS_PATH:
            return None
        with self._changed:
            if (self._next[0] if self._next else self._mode).name != "reset-on-accept":
                return None
            self._receive(self._take_mode(), {}, b"", None)
        return broken.reset

    def answer(self, request: Request) -> Answer:
        """Route one request."""
        match request.method, request.path:
            case "POST", "/refunds":
                return self._refund(request)
            case "GET", "/refunds":
                return self._followed()
            case "POST", "/mode":
                return self._control(request)
            case "POST", "/reset":
                self.reset()
                return self._ledger()
            case "GET", path:
                return self._show(path)
            case _:
                return as_json({"detail": "not found"}, 404)

    def _show(self, path: str) -> Reply:
        match path:
            case "/":
                with self._changed:
                    return pages.payments_page(self.refunds, mode=self.mode, request_count=self.request_count)
            case "/style.css":
                return pages.style()
            case "/ledger.json":
                return self._ledger()
            case "/modes.json":
                return as_json(
                    {name: {"moves": mode.moves, "about": mode.about} for name, mode in MODES.items()}
                )
            case _:
                return as_json({"detail": "not found"}, 404)

    def _refund(self, request: Request) -> Answer:
        """Move money as the mode says, and answer as the mode says."""
        given = request.json()
        with self._changed:
            mode = self._take_mode()
            self._receive(mode, dict(request.headers), request.body, given)
            match given:
                case {"order_id": str(order_id), "amount_cents": int(cents), **rest} if (
                    order_id and type(cents) is int and cents > 0 and not rest
                ):
                    refund = Refund(f"rf_{next(self._ids):06d}", order_id, cents, mode.name)
                case _:
                    return as_json({"detail": "expected order_id and a positive amount_cents"}, 422)
            for _ in range({"yes": 1, "twice": 2}.get(mode.moves, 0)):
                self._move(refund)
        call = RefundCall(
            refund.refund_id,
            cents,
            self.pace,
            first_on_connection=request.number == 1,
            move=lambda: self._move(refund),
        )
        answer = mode.play(call)
        if self.pace.delay_seconds and not isinstance(answer, Delayed):
            return Delayed(self.pace.delay_seconds, answer)
        return answer

    def _take_mode(self) -> Mode:
        mode = self._next.popleft() if self._next else self._mode
        return MODES[self._chance.choice(mode.draws)] if mode.draws else mode

    def _receive(self, mode: Mode, headers: dict[str, str], raw: bytes, body: object) -> None:
        self.requests.append(PaymentRequest(headers, body, raw, mode.name))
        self.request_count += 1
        self._changed.notify_all()

    def _move(self, refund: Refund) -> None:
        with self._changed:
            self.refunds.append(refund)
            self._changed.notify_all()

    def _followed(self) -> Reply:
        """Answer whoever follows a 303: what looks like a receipt, but nothing moves."""
        with self._changed:
            self.followed_redirects += 1
            last = self.refunds[-1] if self.refunds else Refund("rf_000000", "", 0, "")
        return as_json(
            {"refund_id": last.refund_id, "status": "succeeded", "amount_cents": last.amount_cents}
        )

    def _ledger(self) -> Reply:
        with self._changed:
            moved = [asdict(refund) for refund in self.refunds]
            return as_json({"mode": self.mode, "requests": self.request_count, "moved": moved})

    def _control(self, request: Request) -> Reply:
        """Set the mode, the `next` modes, and any field of the pace; from JSON, or from the page's form."""
        form = request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
        if form:
            given: Json = {key: value[0] for key, value in parse_qs(request.body.decode("latin-1")).items()}
        else:
            given = request.json()
        try:
            self._set(**given)
        except (KeyError, TypeError, ValueError) as error:
            return as_json({"detail": f"not understood: {error}", "modes": list(MODES)}, 422)
        return Reply(303, headers=(("Location", "./"),)) if form else self._ledger()

    def _set(self, *, mode: str = "", next: list[str] | None = None, **pace: float | str) -> None:  # noqa: A002
        chosen, queued = MODES[mode or self.mode], [MODES[name] for name in next or ()]
        changed = self.pace.changed(**pace)
        with self._changed:
            self._mode, self.pace = chosen, changed
            self._next.extend(queued)
