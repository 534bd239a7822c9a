"""The model stand-in: OpenAI's `POST /v1/chat/completions`, so that the real SDK is always on the path.

    model = Model()
    model.will(calls_refund("A1", 500), says("Done."), "timeout")   # builders or names of scripts
    with serve(model) as server: ...                                 # OPENAI_BASE_URL = server.url + "/v1"

With nothing queued it follows plain English, and `[script-name]` at the start of a message plays a
script. It keeps no state between requests: the transcript and the request id say where a turn stands.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from sandbox import pages
from sandbox.answers import Answer, Delayed, Json, Raw, Reply, Request, as_json
from sandbox.completions import (
    CREATED,
    Play,
    call,
    calls,
    calls_refund,
    error_reply,
    fails,
    gives,
    hangs,
    raw,
    refund_call,
    resets,
    says,
)
from sandbox.conversation import Conversation, read_conversation
from sandbox.openai_rules import objection
from sandbox.script_parts import plain
from sandbox.scripts import SCRIPTS, find_script, scripted

__all__ = [
    "CompletionRequest",
    "Model",
    "Play",
    "call",
    "calls",
    "calls_refund",
    "fails",
    "gives",
    "hangs",
    "raw",
    "refund_call",
    "resets",
    "says",
]

KEPT_REQUESTS = 1000
MAX_DELAY_SECONDS = 3600
MODEL_NAME = "gpt-4o-mini-2024-07-18"


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One completion that was asked for; header names are in lower case, `body` is None if not JSON."""

    headers: dict[str, str]
    body: Json


class Model:
    """The service, and the handles by which tests tell it what to answer."""

    def __init__(self, *, delay_seconds: float = 0.0) -> None:
        self.delay_seconds = delay_seconds
        self._changed = threading.Condition()
        self.reset()

    def reset(self) -> None:
        """Forget the requests and what was queued."""
        with self._changed:
            self.requests: deque[CompletionRequest] = deque(maxlen=KEPT_REQUESTS)
            self.request_count = 0
            self._next: deque[Play] = deque()

    def will(self, *answers: Play | str) -> None:
        """Answer the next completions with these, one each, whatever is asked."""
        plays = [_play(answer) for answer in answers]
        with self._changed:
            self._next.extend(plays)

    def wait_for_requests(self, count: int, *, timeout_seconds: float = 5.0) -> bool:
        """Wait until `count` completions were asked for; False when the time is over."""
        with self._changed:
            return self._changed.wait_for(lambda: self.request_count >= count, timeout_seconds)

    # --- the server's side ------------------------------------------------------------------------

    def opening(self, path: str) -> Raw | None:  # noqa: ARG002 - the port's shape
        """Read every request."""
        return None

    def answer(self, request: Request) -> Answer:
        """Route one request."""
        match request.method, request.path:
            case "POST", "/v1/chat/completions":
                return self._complete(request)
            case "POST", "/v1/settings":
                return self._set(request.json())
            case "POST", "/v1/reset":
                self.reset()
                return self._settings()
            case "GET", path if page := _PAGES.get(path):
                return page()
            case _:
                return error_reply(404, f"Invalid URL ({request.method} {request.path})")

    def _complete(self, request: Request) -> Answer:
        body = request.json()
        with self._changed:
            self.requests.append(CompletionRequest(dict(request.headers), body))
            self.request_count += 1
            queued = self._next.popleft() if self._next else None
            self._changed.notify_all()
        if "authorization" not in request.headers:
            return error_reply(401, "You didn't provide an API key.")
        if wrong := objection(body):
            return error_reply(400, wrong.message, param=wrong.param)
        conversation = read_conversation(request, body)
        answer = (queued or _choose(conversation))(conversation)
        if self.delay_seconds and not isinstance(answer, Delayed):
            return Delayed(self.delay_seconds, answer)
        return answer

    def _set(self, given: Json) -> Reply:
        match given:
            case {"delay_seconds": int() | float() as seconds, **rest} if (
                not rest and 0 <= seconds <= MAX_DELAY_SECONDS
            ):
                self.delay_seconds = float(seconds)
                return self._settings()
            case _:
                return error_reply(422, f"expected delay_seconds, from 0 to {MAX_DELAY_SECONDS}")

    def _settings(self) -> Reply:
        return as_json({"delay_seconds": self.delay_seconds, "requests": self.request_count})


def _models() -> Reply:
    model = {"id": MODEL_NAME, "object": "model", "created": CREATED, "owned_by": "sandbox"}
    return as_json({"object": "list", "data": [model]})


_ABOUT = {name: script.about for name, script in SCRIPTS.items()}
_PAGES: dict[str, Callable[[], Reply]] = {
    "/v1/": lambda: pages.scripts_page(_ABOUT),
    "/v1/style.css": pages.style,
    "/v1/scripts.json": lambda: as_json(_ABOUT),
    "/v1/models": _models,
}


def _choose(conversation: Conversation) -> Play:
    return scripted(conversation.script) if conversation.script else plain


def _play(answer: Play | str) -> Play:
    if not isinstance(answer, str):
        return answer
    play = find_script(answer)
    if play is None:
        raise ValueError(f"there is no script {answer!r}")
    return play
