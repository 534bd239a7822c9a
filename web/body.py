"""Reads a request's body: whole, in time, within its limit, and as strict JSON, or not at all."""

import socket
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Final, NoReturn, cast
from urllib.parse import parse_qsl, quote

from flask import Request
from marshmallow import Schema, ValidationError
from webargs.flaskparser import FlaskParser
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge

from refund_agent import strict_json
from web.kinds import Kind
from web.problems import Problem, Refused

MAX_BODY_BYTES: Final = 64 * 1024
WERKZEUG_LIMIT_BYTES: Final = MAX_BODY_BYTES + 1
"""Werkzeug cuts a chunked body at its limit without a word; one byte more shows that there was more."""

BODY_SECONDS: Final = 10.0
"""For the whole body. The server reads without a time limit: a silent sender would keep a thread for ever."""

FORM: Final = "application/x-www-form-urlencoded"
MAX_FORM_FIELDS: Final = 20
MAX_ERRORS: Final = 10
MAX_NAME_LENGTH: Final = 64


class StrictJsonParser(FlaskParser):
    """Webargs, with our own reading of the body and our own way to say what is wrong with it."""

    def load_json(self, req: Request, schema: Schema) -> strict_json.Json:  # noqa: ARG002 - webargs' signature
        """Return the body's one JSON value; raise `Refused`."""
        _check_type(req, "application/json")
        body = _read(req)
        try:
            return strict_json.parse(body, max_bytes=MAX_BODY_BYTES)
        except strict_json.NotJson as reason:
            raise _refused(Kind.MALFORMED_BODY, f"The body is not valid JSON: {reason}.") from None

    def handle_error(self, error: ValidationError, *_: object, **__: object) -> NoReturn:
        """Raise `Refused` with what is wrong, field by field, each by its JSON pointer."""
        found = list(islice(_errors(error), MAX_ERRORS))
        said = "; ".join(f"{name}: {text}" if name else text for name, text in found)
        errors = [{"pointer": _pointer(name), "detail": text} for name, text in found]
        raise _refused(Kind.INVALID_BODY, f"The body has the wrong shape: {said}.", errors=errors) from None


def read_form(req: Request) -> dict[str, str]:
    """Return the fields of an HTML form, each given once, none with a NUL; raise `Refused`."""
    _check_type(req, FORM)
    try:
        given = parse_qsl(
            _read(req).decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_FORM_FIELDS
        )
    except ValueError:
        raise _refused(Kind.MALFORMED_BODY, "The body is not a form.") from None
    fields = dict(given)
    if len(fields) < len(given) or any("\x00" in value for value in fields.values()):
        raise _refused(Kind.INVALID_BODY, "The form has a field twice, or one that is no text.")
    return fields


def _check_type(req: Request, mimetype: str) -> None:
    """Accept this type in plain UTF-8 only; nothing is ever read as one by force."""
    if req.mimetype != mimetype:
        raise _refused(Kind.WRONG_CONTENT_TYPE, f"The Content-Type must be {mimetype}.")
    if req.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise _refused(Kind.WRONG_CONTENT_TYPE, "The body must not be compressed.")
    if req.mimetype_params.get("charset", "utf-8").lower() not in {"utf-8", "utf8"}:
        raise _refused(
            Kind.MALFORMED_BODY, "The body is read as UTF-8; the Content-Type declares another charset."
        )


def _read(req: Request) -> bytes:
    """Return the whole body; raise `Refused`."""
    with _wall(req, BODY_SECONDS) as too_late:
        body = _receive(req)
    if too_late.is_set():
        raise _refused(Kind.BODY_TOO_SLOW, f"The body did not arrive within {BODY_SECONDS:g} seconds.")
    if len(body) > MAX_BODY_BYTES:
        raise _too_large()
    if req.content_length is not None and len(body) < req.content_length:
        # A cut body may be valid JSON all the same, and what the caller meant to send is not known.
        raise _refused(Kind.MALFORMED_BODY, "The body is shorter than its Content-Length.")
    return body


def _receive(req: Request) -> bytes:
    try:
        return req.get_data(cache=False)
    except RequestEntityTooLarge:
        raise _too_large() from None
    except ClientDisconnected:
        return b""
    except Exception as error:
        # What a server raises at a broken chunked body is its own affair; the body is not there.
        raise _refused(Kind.MALFORMED_BODY, "The body's transfer coding is broken.") from error


@contextmanager
def _wall(req: Request, seconds: float) -> Generator[threading.Event]:
    """Stop a body that comes too slowly, where the server shows us its socket; the event says so."""
    too_late = threading.Event()
    connection = req.environ.get("gunicorn.socket")
    if not isinstance(connection, socket.socket):
        yield too_late
        return

    def stop_reading() -> None:
        too_late.set()
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RD)

    timer = threading.Timer(seconds, stop_reading)
    timer.daemon = True
    timer.start()
    try:
        yield too_late
    finally:
        timer.cancel()


def _errors(error: ValidationError) -> Iterator[tuple[str, str]]:
    """Yield field and complaint; the field is empty when the body as a whole is wrong."""
    by_field = cast("Mapping[str, Mapping[str, list[str]]]", error.messages)["json"]
    for name, complaints in by_field.items():
        for complaint in complaints:
            yield ("" if name == "_schema" else name[:MAX_NAME_LENGTH]), complaint


def _pointer(name: str) -> str:
    """Point at a member of the body (RFC 6901, as a URI fragment)."""
    escaped = name.replace("~", "~0").replace("/", "~1")
    return f"#/{quote(escaped, errors='replace')}" if name else "#"


def _too_large() -> Refused:
    return _refused(Kind.BODY_TOO_LARGE, f"The body is over {MAX_BODY_BYTES} bytes.")


def _refused(kind: Kind, what_is_wrong: str, **members: object) -> Refused:
    detail = f"{what_is_wrong} Nothing was stored or sent, and no refund was made."
    return Refused(Problem(kind, detail, members=members))
