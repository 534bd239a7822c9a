"""The portal, as a chaos run plays it: it sends one request and keeps what it was told."""

import json
import time
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import requests

PATH = "/support/refund-chat"
PATIENCE_SECONDS = 60.0

Word: TypeAlias = Literal["nothing", "paid", "rejected", "not_sent", "unknown", "not told"]
"""What an answer says about the refund. `nothing`: none was sent and none ever will be."""


@dataclass(frozen=True, slots=True)
class Told:
    """One answer. `status` 0: the connection broke or nothing came, and `word` is `not told`."""

    status: int
    word: Word
    turn_id: str
    seconds: float
    replayed: bool = False
    title: str = ""

    def __str__(self) -> str:
        return f"{self.status} {self.word}" if self.status else "connection broke"


def ask(url: str, *, key: str, order_id: str) -> Told:
    """Ask for the refund and wait, as the portal does."""
    started = time.monotonic()
    with requests.Session() as session:
        session.trust_env = False
        try:
            answer = session.post(
                url + PATH,
                json={"user_id": order_id, "message": order_id},
                headers={"Idempotency-Key": key},
                timeout=PATIENCE_SECONDS,
            )
        except requests.RequestException:
            return Told(0, "not told", "", time.monotonic() - started)
    document: dict[str, Any] = answer.json()
    return Told(
        status=answer.status_code,
        word=_word(document),
        turn_id=answer.headers["X-Turn-Id"],
        seconds=time.monotonic() - started,
        replayed=answer.headers.get("Idempotent-Replayed") == "true",
        title=document.get("title", ""),
    )


def look(url: str, turn_id: str) -> Told:
    """Ask where a turn stands; an unended one tells nothing."""
    started = time.monotonic()
    with requests.Session() as session:
        session.trust_env = False
        answer = session.get(f"{url}/support/turns/{turn_id}", timeout=PATIENCE_SECONDS)
    document: dict[str, Any] = answer.json()
    seconds = time.monotonic() - started
    if answer.status_code != requests.codes.ok or document["state"] not in {"done", "failed"}:
        return Told(answer.status_code, "not told", turn_id, seconds, title=document.get("state", ""))
    return Told(200, _state(document["refund"]), turn_id, seconds, title=document["state"])


def _word(document: dict[str, Any]) -> Word:
    if "reply" in document:
        return _said(json.loads(document["reply"]))
    return _state(document["refund"])


def _state(refund: dict[str, Any] | None) -> Word:
    if refund is None:
        return "nothing"
    word: Word = refund["state"]
    return word


def _said(result: dict[str, Any]) -> Word:
    """Read the tool's result, which the model has repeated as its reply."""
    if "refund_id" in result:
        return "paid"
    beginnings: dict[str, Word] = {
        "payments rejected": "rejected",
        "the refund was not sent": "not_sent",
        "outcome unknown": "unknown",
        "not sent: ": "nothing",
        "refused: ": "nothing",
    }
    return next(word for start, word in beginnings.items() if result["error"].startswith(start))
