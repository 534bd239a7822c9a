"""`GET /support/turns/{id}/events`: a turn's events as an event stream, from any web process."""

import select
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from flask import Response, request
from flask_smorest import Blueprint

from refund_agent.facade import Unreadable
from refund_agent.journal import StoredEvents
from refund_agent.languages import Language
from refund_agent.ports import Clock, StoreUnavailable
from refund_agent.turn import TurnRecord
from web.api_docs import FOR_PORTAL_OR_SUPPORT, with_problems
from web.ids import API_ROOT, adopt_turn_id
from web.kinds import Kind
from web.languages import ACCEPT_LANGUAGE, in_language, readers_language_of
from web.problems import NOT_READABLE, Problem, Refused
from web.stream_places import StreamPlaces
from web.turn_stream import FindTurn, TurnStream, Watching

EVENT_STREAM: Final = "text/event-stream"
WRITE_SECONDS: Final = 10.0
"""A client that takes nothing for so long loses its connection, and its thread is free."""
MAX_SEQ_DIGITS: Final = 9
HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
LAST_EVENT_ID: Final = {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "The last event that was received: the stream goes on after it. `last_event_id` in the "
    "query does the same.",
    "schema": {"type": "string", "pattern": "^[0-9]{1,9}$"},
}


def _nobody(_: TurnRecord) -> bool:
    return False


def _customer_of(turn: TurnRecord) -> str:
    return turn.user_id


@dataclass(frozen=True, slots=True)
class Access:
    """Whom a turn's events are for, asked during the request. Without an answer: nobody.

    `viewer` names who holds the stream, for the cap; `shows_all` is for staff: a customer is shown what
    `web.event_views` says.
    """

    allowed: Callable[[TurnRecord], bool] = _nobody
    viewer: Callable[[TurnRecord], str] = _customer_of
    shows_all: Callable[[TurnRecord], bool] = _nobody


class TurnStreams:
    """Streams of turns, and how many of them this process may hold."""

    def __init__(
        self,
        *,
        find: FindTurn,
        stored: StoredEvents,
        watching: Watching,
        clock: Clock,
        places: StreamPlaces,
    ) -> None:
        self._find = find
        self._stored = stored
        self._watching = watching
        self._clock = clock
        self.places = places

    def find(self, turn_id: str, access: Access) -> TurnRecord:
        """Return a turn that the caller may see; raise `Refused`, the same for a foreign one and for none."""
        found = self._find(turn_id)
        if isinstance(found, Unreadable):
            raise Refused(NOT_READABLE)
        if found is None or not access.allowed(found):
            raise Refused(Problem(Kind.NO_SUCH_TURN, "There is no such turn. Nothing was done."))
        return found

    def newest(self, turn_id: str) -> int:
        """Return the number of the turn's last event, 0 when it has none; raise `Refused`."""
        try:
            return self._stored.newest([turn_id]).get(turn_id, 0)
        except StoreUnavailable:
            raise Refused(NOT_READABLE) from None

    def stream_turn(
        self,
        turn_id: str,
        after_seq: int,
        *,
        shows_all: bool = False,
        client_is_gone: Callable[[], bool] = lambda: False,
        language: Language | None = None,
    ) -> Iterator[bytes]:
        """Yield the turn's events after `after_seq`, stored ones first, and `ended` in a language at last."""
        return TurnStream(
            turn_id,
            after=after_seq,
            shows_all=shows_all,
            find=self._find,
            stored=self._stored,
            watching=self._watching,
            clock=self._clock,
            client_is_gone=client_is_gone,
            language=language,
        ).frames()

    def respond(
        self,
        turn_id: str,
        *,
        give_back: Callable[[], None],
        language: Language | None,
        after_seq: int = 0,
        shows_all: bool = False,
    ) -> Response:
        """Answer the present request with the turn's stream; `give_back` returns the place it was given.

        The place comes from `places.take`, before a turn is started for the stream.
        """
        adopt_turn_id(turn_id)
        limit_writes(request.environ)
        frames = self.stream_turn(
            turn_id,
            after_seq,
            shows_all=shows_all,
            client_is_gone=gone_client(request.environ),
            language=language,
        )
        answer = Response(frames, mimetype=EVENT_STREAM, headers=HEADERS)
        # Not the generator's own end: one that was never begun, as for HEAD, has none.
        answer.call_on_close(give_back)
        return in_language(answer, language)


def blueprint(streams: TurnStreams, access: Access) -> Any:  # noqa: ANN401 - flask-smorest is not typed
    """Return the route."""

    def turn_events(turn_id: UUID) -> Response:
        """Stream what the turn has done and what it does next; ends when the turn has ended."""
        adopt_turn_id(str(turn_id))
        turn = streams.find(str(turn_id), access)
        newest = streams.newest(turn.id)
        given = last_event_id()
        if turn.state == "ended" and given > newest:
            return Response(status=204)  # all of it was received, which an EventSource takes as the end
        return streams.respond(
            turn.id,
            give_back=streams.places.take(access.viewer(turn)),
            language=readers_language_of(turn),
            after_seq=min(given, newest),
            shows_all=access.shows_all(turn),
        )

    routes: Any = Blueprint("turn_events", __name__, description="What a turn does, live.")
    documented: Any = routes.response(200, content_type=EVENT_STREAM, description="The events.")(turn_events)
    documented = routes.alt_response(204, description="There is nothing after `Last-Event-ID`.")(documented)
    documented = with_problems(routes, documented, 401, 404, 429, 503)
    documented = routes.doc(security=FOR_PORTAL_OR_SUPPORT, parameters=[LAST_EVENT_ID, ACCEPT_LANGUAGE])(
        documented
    )
    routes.add_url_rule(f"{API_ROOT}turns/<uuid:turn_id>/events", view_func=documented, methods=["GET"])
    return routes


def last_event_id() -> int:
    """Return the number of the last event the client has, 0 for none or for what is no number."""
    given = request.headers.get("Last-Event-ID") or request.args.get("last_event_id", "")
    sane = given.isascii() and given.isdigit() and len(given) <= MAX_SEQ_DIGITS
    return int(given) if sane else 0


def limit_writes(environ: Mapping[str, Any]) -> None:
    """Let no write of this answer wait longer than `WRITE_SECONDS` for the client."""
    connection = environ.get("gunicorn.socket")
    if connection is not None:
        with suppress(OSError):
            connection.settimeout(WRITE_SECONDS)


def gone_client(environ: Mapping[str, Any]) -> Callable[[], bool]:
    """Return what tells, without waiting, whether this request's client has closed its connection."""
    connection = environ.get("gunicorn.socket")
    if connection is None or isinstance(connection, ssl.SSLSocket):
        return lambda: False  # then a write will tell

    def is_gone() -> bool:
        # Polled first: with a time-out set, `recv` itself would wait for it, MSG_DONTWAIT or not.
        poller = select.poll()
        try:
            poller.register(connection, select.POLLIN)
            return bool(poller.poll(0)) and not connection.recv(1, socket.MSG_PEEK)
        except (OSError, ValueError):  # closed under our hands
            return True

    return is_gone
