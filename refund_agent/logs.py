"""JSON lines on standard output, for our loggers and everybody else's, with no customer text in them.

Three things keep it out: keys that could carry it are dropped, values that are not plain are named by
their type only, and an exception is told by its class and frames, never by its message, which may quote
a statement, a prompt or a key.
"""

import json
import logging
import sys
from traceback import walk_tb
from types import TracebackType
from typing import Any, Final, TextIO, cast

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

DROPPED_KEYS: Final = frozenset(
    (
        # what a customer, the model or payments said
        "answer", "arguments", "body", "content", "data", "detail", "evidence", "json", "message", "messages",
        "payload", "prompt", "reply", "response", "result", "text", "transcript",
        # who and what it was about
        "customer", "order", "order_id", "user", "user_id",
        # how it was asked
        "args", "headers", "kwargs", "params", "query", "request", "sql", "url",
        # secrets
        "api_key", "authorization", "cookie", "cookies", "database_url", "password", "redis_url", "secret",
        "token", "tokens",
    )
)  # fmt: skip
MAX_TEXT_LENGTH: Final = 500
MAX_FRAMES: Final = 20
MAX_CAUSES: Final = 5

NEVER_BELOW_WARNING: Final = ("openai", "httpx", "httpcore", "urllib3", "requests", "sqlalchemy", "werkzeug")
"""At lower levels these write requests, prompts or statements; no log level of ours lets them."""


def configure(level: int, stream: TextIO | None = None) -> None:
    """Send every logger of the process through one JSON handler on `stream` (standard output).

    Call it once a process starts, after a server has set up its own handlers: they are replaced.
    """
    handler = logging.StreamHandler(stream or sys.stdout)
    handler.setFormatter(_formatter())
    _take_over(handler, level)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.PositionalArgumentsFormatter(),
            *_shared(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )


def _take_over(handler: logging.Handler, level: int) -> None:
    """Make `handler` the only one, also of loggers that were given handlers of their own."""
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger) and logger.handlers:
            logger.handlers.clear()
            logger.propagate = True
    for name in NEVER_BELOW_WARNING:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))


def _shared() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _formatter() -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_shared(),
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            tell_exception,
            redact,
            structlog.processors.JSONRenderer(json.dumps, default=_type_name),
        ],
    )


def redact(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Drop every key that could carry customer text, however deep, and cut long texts."""
    return {key: _clean(value) for key, value in event.items() if key.lower() not in DROPPED_KEYS}


def _clean(value: object) -> object:
    match value:
        case str():
            return value[:MAX_TEXT_LENGTH]
        case dict():
            known = cast("dict[object, object]", value)
            return {
                str(key): _clean(inner)
                for key, inner in known.items()
                if str(key).lower() not in DROPPED_KEYS
            }
        case list() | tuple():
            return [_clean(inner) for inner in cast("list[object]", value)]
        case _:
            return value


def tell_exception(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Replace an exception by its class, its causes' classes and its frames."""
    found = event.pop("exc_info", None)
    event.pop("stack_info", None)
    error = _exception(found)
    if error is not None:
        event["exception"] = _causes(error)
        event["frames"] = _frames(error.__traceback__)
    return event


def _exception(exc_info: Any) -> BaseException | None:  # noqa: ANN401 - logging's own loose type
    if isinstance(exc_info, BaseException):
        return exc_info
    if isinstance(exc_info, tuple):
        return cast("tuple[Any, BaseException | None, Any]", exc_info)[1]
    return sys.exc_info()[1] if exc_info else None


def _causes(error: BaseException) -> list[str]:
    names: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(names) < MAX_CAUSES:
        names.append(f"{type(cause).__module__}.{type(cause).__qualname__}")
        cause = cause.__cause__ or cause.__context__
    return names


def _frames(traceback: TracebackType | None) -> list[str]:
    frames = [
        f"{frame.f_code.co_filename}:{line} {frame.f_code.co_name}" for frame, line in walk_tb(traceback)
    ]
    return frames[-MAX_FRAMES:]


def _type_name(value: object) -> str:
    return f"<{type(value).__name__}>"
