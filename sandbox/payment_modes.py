"""Every way the payments stand-in can answer, each with what it does to the money.

Whether money moves is a column of the table, not something a mode's function decides: the service
moves it before the function makes the answer (`late`: the function says when).
"""

from collections.abc import Iterator

from sandbox import broken
from sandbox.answers import as_json
from sandbox.payment_parts import (
    Mode,
    Moves,
    accept_late,
    amount_written,
    badly,
    bare,
    bigint,
    body,
    created,
    detail,
    drip_body,
    drip_headers,
    latin_1,
    page,
    raw,
    receipt,
    redirect_away,
    redirect_to_itself,
    slow,
    stale_keep_alive,
)

REFUSALS = {
    400: "bad request",
    401: "unknown caller",
    403: "not allowed",
    404: "no such order",
    405: "method not allowed",
    413: "request too large",
    414: "address too long",
    415: "unsupported media type",
    422: "amount exceeds what was paid",
    425: "too early",
    429: "too many requests",
}
"""A definite no, by the contract with payments."""

DOUBTS = {
    408: "request timed out",
    409: "conflict with another refund",
    499: "client closed request",
    500: "internal error",
    502: "bad gateway",
    503: "unavailable",
    504: "gateway timed out",
}
"""An error that may come after or beside an accepted call."""

PLANTED_SECRET = "card 4111111111111111, password=hunter2, Bearer sk-live-0123456789abcdef"  # noqa: S105 - bait
PLANTED_TRACE = 'Traceback (most recent call last):\n  File "/srv/app.py", line 12, in refund\nKeyError: 1'


def _rows() -> Iterator[Mode]:
    yield from _receipts()
    yield from _refusals()
    yield from _silences()
    yield from _broken_answers()
    yield from _odd_successes()
    yield from _wrong_receipts()


def _receipts() -> Iterator[Mode]:
    yield Mode("ok", "yes", "200 and a receipt", receipt())
    yield Mode("ok-201", "yes", "201 and a receipt", created)
    yield Mode("pending", "yes", "a receipt with status pending", receipt(status="pending"))
    yield Mode("processing", "yes", "a receipt with status processing", receipt(status="processing"))
    yield Mode("duplicate", "twice", "one call, a receipt, and two refunds inside", receipt())


def _refusals() -> Iterator[Mode]:
    yield Mode("reject", "no", "422 and a detail", detail(422, REFUSALS[422]))
    for status, text in REFUSALS.items():
        yield Mode(f"reject-{status}", "no", f"{status} and a detail", detail(status, text))
        yield Mode(f"{status}-html", "no", f"{status} and a gateway's HTML", page(status))
    for status, text in DOUBTS.items():
        yield Mode(f"{status}", "no", f"{status} and a detail", detail(status, text))
        yield Mode(f"{status}-moved", "yes", f"{status} and a detail, though accepted", detail(status, text))
        yield Mode(f"{status}-html", "no", f"{status} and a gateway's HTML", page(status))
    yield Mode(
        "detail-secret", "no", "422, the detail holds a card number and a key", detail(422, PLANTED_SECRET)
    )
    yield Mode("detail-trace", "no", "422, the detail is a stack trace", detail(422, PLANTED_TRACE))
    yield Mode("detail-10kB", "no", "422, a detail of 10 kB", detail(422, "too long " * 1111))
    yield Mode(
        "detail-control", "no", "422, control characters", detail(422, "no\r\n\x1b[31m\x00\u202eorder")
    )
    yield Mode(
        "detail-list", "no", "422, the detail is a list", detail(422, [{"loc": ["body"], "msg": "no"}])
    )
    yield Mode(
        "detail-missing", "no", "422 and JSON without a detail", lambda _: as_json({"error": "no"}, 422)
    )


def _silences() -> Iterator[Mode]:
    yield Mode("slow", "yes", "a receipt after slow_seconds", slow)
    yield Mode("hang", "no", "never answers", raw(broken.hang))
    yield Mode("accept-then-hang", "yes", "never answers", raw(broken.hang))
    yield Mode("accept-then-drop", "yes", "closes without an answer", raw(broken.drop))
    yield Mode(
        "accept-late", "late", "never answers; accepts late_seconds after the client left", accept_late
    )
    yield Mode("reset-on-accept", "no", "TCP reset before the request is read", raw(broken.reset))
    yield Mode("reset-before-work", "no", "TCP reset after the request was read", raw(broken.reset))
    yield Mode("reset-after-request", "yes", "TCP reset after the request was read", raw(broken.reset))
    yield Mode("stale-keep-alive", "yes", "drops a second request on one connection", stale_keep_alive)
    draws = ("ok", "ok", "reset-before-work", "reset-after-request")
    yield Mode("flaky", "by chance", f"one of {', '.join(draws)}", raw(broken.drop), draws)


def _broken_answers() -> Iterator[Mode]:
    yield Mode("drip-headers", "yes", "a byte every drip_seconds, status line and all", drip_headers)
    yield Mode("drip-body", "yes", "headers, then a byte every drip_seconds", drip_body)
    yield Mode("cut-content-length", "yes", "Content-Length above the body", badly(broken.cut_content_length))
    yield Mode("cut-chunked", "yes", "chunked, without the last chunk", badly(broken.cut_chunked))
    yield Mode("no-length-cut", "yes", "no length, half of the body", badly(broken.cut_without_length))
    yield Mode("two-content-lengths", "yes", "two lengths that differ", badly(broken.two_content_lengths))
    yield Mode("huge", "yes", "a receipt and 100 MB of blanks", badly(broken.huge))
    yield Mode("gzip-bomb", "yes", "the same, as 140 kB of gzip", badly(broken.gzip_bomb))
    yield Mode("bad-gzip", "yes", "says gzip and is not", badly(broken.bad_gzip))
    yield Mode("unknown-encoding", "yes", "Content-Encoding: rot13", badly(broken.unknown_encoding))
    yield Mode("continue-then-ok", "yes", "100 Continue, then a receipt", badly(broken.continue_then))
    yield Mode("continue-then-nothing", "yes", "100, then silence", raw(broken.continue_then_nothing))


def _odd_successes() -> Iterator[Mode]:
    for status in (301, 302, 303, 307, 308):
        moves: Moves = "yes" if status == 303 else "no"  # noqa: PLR2004 - See Other is how a POST is accepted
        yield Mode(f"redirect-{status}", moves, f"{status} to the same address", redirect_to_itself(status))
        yield Mode(f"redirect-{status}-away", moves, f"{status} to redirect_url", redirect_away(status))
    for status in (202, 204, 205, 206):
        yield Mode(f"{status}", "yes", f"{status} and no body", bare(status))
    yield Mode("202-receipt", "yes", "202 and a receipt", lambda call: as_json(call.receipt(), 202))
    yield Mode("garbage-html", "yes", "200 and HTML", page(200))
    yield Mode("garbage-empty", "yes", "200 and an empty body", body(""))
    yield Mode("garbage-null", "yes", "200 and null", body("null"))
    yield Mode("garbage-list", "yes", "200 and []", body("[]"))
    yield Mode("garbage-string", "yes", '200 and "ok"', body('"ok"'))
    yield Mode("garbage-deep", "yes", "200 and 30,000 nested lists", body("[" * 30_000 + "]" * 30_000))
    yield Mode("garbage-bigint", "yes", "an amount of 5,000 digits", bigint)
    yield Mode("garbage-nan", "yes", "the amount NaN", receipt(amount_cents=float("nan")))
    yield Mode("garbage-latin-1", "yes", "a receipt with a byte that is not UTF-8", latin_1)
    yield Mode("garbage-detail", "yes", "200 and a detail", detail(200, REFUSALS[422]))


def _wrong_receipts() -> Iterator[Mode]:
    yield Mode("amount-other", "yes", "one cent more than asked", amount_written(lambda cents: cents + 1))
    yield Mode("amount-string", "yes", "the amount as a string", amount_written(str))
    yield Mode("amount-float", "yes", "the amount as a float", amount_written(float))
    yield Mode("amount-true", "yes", "the amount true", receipt(amount_cents=True))
    yield Mode("amount-missing", "yes", "no amount", receipt(amount_cents=...))
    yield Mode("refund-id-missing", "yes", "no refund_id", receipt(refund_id=...))
    yield Mode("refund-id-empty", "yes", "an empty refund_id", receipt(refund_id=""))
    yield Mode("refund-id-null", "yes", "refund_id null", receipt(refund_id=None))
    yield Mode("refund-id-number", "yes", "refund_id a number", receipt(refund_id=17))
    yield Mode("refund-id-10kB", "yes", "a refund_id of 10 kB", receipt(refund_id="r" * 10_000))
    for status in ("failed", "cancelled", "declined"):
        yield Mode(f"status-{status}", "no", f"a full receipt, status {status}", receipt(status=status))
    yield Mode("status-missing", "yes", "no status", receipt(status=...))
    yield Mode("status-number", "yes", "status a number", receipt(status=1))


MODES = {mode.name: mode for mode in _rows()}
