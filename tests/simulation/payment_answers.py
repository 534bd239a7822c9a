"""The answers that a payments service, or a gateway before it, may give to one refund request."""

import json
import random
from typing import Literal, TypeAlias

from refund_agent.adapters.payment_answer import HttpAnswer
from tests.simulation.faults import Faults

Meaning: TypeAlias = Literal["paid", "no", "unclear"]
Drawn: TypeAlias = tuple[str, Meaning, HttpAnswer]

GOOD_STATUSES = ("succeeded", "pending", "processing", "", "ok")
BAD_STATUSES = ("failed", "FAILED", "refund-declined", "notRefunded", "cancelled", "error", "not ok")
NOT_RECEIPTS = (
    b"",
    b"null",
    b"[]",
    b'"ok"',
    b"<html>ok</html>",
    b"{",
    b"[" * 200,
    b'{"detail": "no"}',
    b"\xff",
)
OTHER_STATUSES = (
    *(202, 204, 206, 301, 302, 303, 307, 308),
    *(402, 408, 409, 409, 409, 499),
    *(500, 500, 502, 503, 503, 504, 599, 103),
)
NO_BODY: dict[str, object] = {"detail": "no such order"}


def answer_of(rng: random.Random, amount_cents: int, *, faults: Faults) -> Drawn:
    """Draw an answer: its kind, what it means by the contract, and how it came."""
    if faults.healthy:
        return _receipt(rng, amount_cents)
    if faults.strike("payments answered by a gateway"):
        return _other_status(rng, amount_cents)
    return rng.choice(_DRAWS)(rng, amount_cents)


def _json(status: int, body: object) -> HttpAnswer:
    return HttpAnswer(status, json.dumps(body).encode())


def _fields(rng: random.Random, amount_cents: int) -> dict[str, object]:
    number = rng.randrange(10**9)
    return {"refund_id": f"re-{number}", "status": rng.choice(GOOD_STATUSES), "amount_cents": amount_cents}


def _receipt(rng: random.Random, amount_cents: int) -> Drawn:
    return "receipt", "paid", _json(rng.choice((200, 201)), _fields(rng, amount_cents))


def _definite_no(rng: random.Random, _: int) -> Drawn:
    status = rng.choice((400, 401, 403, 404, 405, 413, 414, 415, 422))
    return f"{status} with a reason", "no", _json(status, NO_BODY)


def _busy(rng: random.Random, _: int) -> Drawn:
    status = rng.choice((425, 429))
    return f"{status}", "no", HttpAnswer(status, rng.choice((b"", b"<html>", b'{"detail": "busy"}')))


def _page(rng: random.Random, _: int) -> Drawn:
    status = rng.choice((400, 401, 403, 404, 405, 413, 414, 415, 422))
    return (
        f"{status} without a reason",
        "unclear",
        HttpAnswer(status, rng.choice((b"<html>", b"", b"[]", b"{}"))),
    )


def _other_status(rng: random.Random, amount_cents: int) -> Drawn:
    status = rng.choice(OTHER_STATUSES)
    body = rng.choice((_fields(rng, amount_cents), NO_BODY))
    return f"{status}", "unclear", _json(status, body)


def _another_amount(rng: random.Random, amount_cents: int) -> Drawn:
    wrong = rng.choice(
        (amount_cents + 1, str(amount_cents), float(amount_cents), True, None, -amount_cents, 10**30)
    )
    body = _fields(rng, amount_cents) | {"amount_cents": wrong}
    return "receipt of another amount", "unclear", _json(200, body)


def _without_id(rng: random.Random, amount_cents: int) -> Drawn:
    body = _fields(rng, amount_cents) | {"refund_id": rng.choice(("", " ", None, 7, "x" * 10_000, "a\x00b"))}
    if rng.random() < 0.2:
        del body["refund_id"]
    return "receipt without an id", "unclear", _json(200, body)


def _says_failed(rng: random.Random, amount_cents: int) -> Drawn:
    body = _fields(rng, amount_cents) | {"status": rng.choice(BAD_STATUSES)}
    return "receipt that says failed", "unclear", _json(rng.choice((200, 201)), body)


def _no_receipt(rng: random.Random, _: int) -> Drawn:
    return "200 that is no receipt", "unclear", HttpAnswer(rng.choice((200, 201)), rng.choice(NOT_RECEIPTS))


def _cut(rng: random.Random, amount_cents: int) -> Drawn:
    status = rng.choice((200, 200, 404, 422, 500))
    body = json.dumps(_fields(rng, amount_cents) if status == 200 else NO_BODY).encode()
    # What came may even be whole JSON: it is cut all the same, and what follows is not known.
    kept = body[: rng.randrange(len(body))] if rng.random() < 0.5 else body
    return "cut", "unclear", HttpAnswer(status, kept, cut="the connection broke")


def _encoded(rng: random.Random, amount_cents: int) -> Drawn:
    body = json.dumps(_fields(rng, amount_cents)).encode()
    return "encoded", "unclear", HttpAnswer(200, body, content_encoding=rng.choice(("gzip", "br", "x")))


_DRAWS = (
    *(_receipt,) * 10,
    *(_definite_no,) * 3,
    _busy,
    _page,
    *(_other_status,) * 3,
    _another_amount,
    _without_id,
    _says_failed,
    _no_receipt,
    _cut,
    _encoded,
)
