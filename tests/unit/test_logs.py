"""One JSON line an event, whoever writes it, and no customer text in it."""

import io
import json
import logging
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import structlog
from structlog.contextvars import bound_contextvars

from refund_agent import logs


class Written:
    """What was logged so far."""

    def __init__(self, stream: io.StringIO) -> None:
        self._stream = stream

    @property
    def text(self) -> str:
        return self._stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


@pytest.fixture
def written() -> Iterator[Written]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    stream = io.StringIO()
    logs.configure(logging.DEBUG, stream)
    yield Written(stream)
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


log = structlog.stdlib.get_logger("ours")
theirs = logging.getLogger("theirs")


def test_our_loggers_and_others_write_the_same_kind_of_line(written: Written) -> None:
    with bound_contextvars(request_id="r-1", turn_id="t-1"):
        log.info("turn_ended", outcome="Replied")
        theirs.warning("lost %s of %s", 1, 2)

    ours, other = written.lines
    assert ours.pop("timestamp")[10] == other.pop("timestamp")[10] == "T"
    ids = {"request_id": "r-1", "turn_id": "t-1"}
    assert ours == {"event": "turn_ended", "outcome": "Replied", "level": "info", "logger": "ours", **ids}
    assert other == {"event": "lost 1 of 2", "level": "warning", "logger": "theirs", **ids}


def test_an_event_is_one_line_whatever_is_in_it(written: Written) -> None:
    log.info("a\nb\r\nc\u2028d", state="x\ny", bad="\ud800\x00\x1b[31m")
    theirs.info("a\nb")

    assert len(written.text.splitlines()) == 2
    assert written.text.isascii()


@pytest.mark.fault(65)
@pytest.mark.parametrize("key", sorted(logs.DROPPED_KEYS))
def test_a_key_that_could_carry_customer_text_is_dropped_at_any_depth(written: Written, key: str) -> None:
    log.info("event", **{key: "CANARY", key.upper(): "CANARY"}, nested={"a": [{key: "CANARY", "kept": 1}]})

    (line,) = written.lines
    assert "CANARY" not in written.text
    assert line["nested"] == {"a": [{"kept": 1}]}


@pytest.mark.fault(65)
def test_an_object_is_named_by_its_type_alone(written: Written) -> None:
    @dataclass
    class Turn:
        words: str

    log.info("event", turn=Turn("CANARY"), many=[Turn("CANARY")], raw=b"CANARY")

    assert "CANARY" not in written.text
    assert written.lines[0]["turn"] == "<Turn>"


def test_a_long_text_is_cut(written: Written) -> None:
    log.info("event", reason="x" * 10_000)

    assert len(written.lines[0]["reason"]) == logs.MAX_TEXT_LENGTH


def fails() -> None:
    try:
        int("CANARY")
    except ValueError as error:
        raise KeyError("CANARY") from error


@pytest.mark.fault(69)
@pytest.mark.parametrize("logger", [log, theirs])
def test_an_exception_is_told_by_class_and_frames_never_by_its_text(written: Written, logger: Any) -> None:
    try:
        fails()
    except KeyError:
        logger.exception("broken")

    (line,) = written.lines
    assert line["exception"] == ["builtins.KeyError", "builtins.ValueError"]
    assert [frame.rsplit(" ", 1)[1] for frame in line["frames"]][-1] == "fails"
    assert __file__ in line["frames"][-1]
    assert "CANARY" not in written.text


def test_an_exception_given_as_a_value_is_told_the_same_way(written: Written) -> None:
    log.error("broken", exc_info=RuntimeError("CANARY"))

    assert written.lines[0]["exception"] == ["builtins.RuntimeError"]
    assert "CANARY" not in written.text


def test_asking_for_an_exception_when_there_is_none_is_no_mistake(written: Written) -> None:
    log.error("fine", exc_info=True)  # noqa: LOG014 - the mistake is the point
    theirs.error("fine", exc_info=sys.exc_info())

    assert all("exception" not in line for line in written.lines)


@pytest.mark.fault(65)
@pytest.mark.parametrize("name", logs.NEVER_BELOW_WARNING)
def test_a_library_that_writes_prompts_or_statements_is_quiet_at_every_level(
    written: Written, name: str
) -> None:
    library = logging.getLogger(name)
    logging.getLogger(f"{name}.inner").debug("CANARY")
    library.info("CANARY")
    library.warning("kept")

    assert [line["event"] for line in written.lines] == ["kept"]


def test_the_level_holds_for_our_loggers_and_others(written: Written) -> None:
    logs.configure(logging.WARNING, io.StringIO())
    log.info("dropped")
    theirs.info("dropped")

    assert written.lines == []
    assert logging.getLogger().level == logging.WARNING


def test_a_logger_with_handlers_of_its_own_is_taken_over() -> None:
    server = logging.getLogger("server.error")
    own, ours = io.StringIO(), io.StringIO()
    server.addHandler(logging.StreamHandler(own))
    server.propagate = False
    root = logging.getLogger()
    before = (list(root.handlers), root.level)
    logs.configure(logging.INFO, ours)
    server.warning("hello")
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    structlog.reset_defaults()

    assert own.getvalue() == ""
    assert json.loads(ours.getvalue())["logger"] == "server.error"
