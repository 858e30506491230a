"""Structured logs: text for people, JSON for machines, secrets in neither."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest

from hermes.settings.logs import configure_logging
from hermes.settings.model import LogSettings

logger = logging.getLogger("hermes.server")
TEXT = LogSettings()
JSON = LogSettings(format="json")


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


def test_a_text_line_has_time_level_logger_message_and_fields(stream: io.StringIO) -> None:
    configure_logging(TEXT, stream)
    logger.info("request", extra={"method": "POST", "path": "/v1/a b", "status": 200, "ms": 1.5})
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO hermes\.server request "
        r'method=POST path="/v1/a b" status=200 ms=1\.5\n',
        stream.getvalue(),
    )


def test_a_json_line_is_one_object(stream: io.StringIO) -> None:
    configure_logging(JSON, stream)
    logger.warning("odd\nthing", extra={"status": 200, "who": None, "path": "/x"})
    (line,) = stream.getvalue().splitlines()
    found = json.loads(line)
    assert found.pop("time").endswith("Z")
    assert found == {
        "level": "WARNING",
        "logger": "hermes.server",
        "message": "odd\nthing",
        "status": 200,
        "who": None,
        "path": "/x",
    }


@pytest.mark.parametrize("forged", ["\n2026 INFO x", "\r\nX", "\x1b[31m", "\u2028x", "a=b\n"])
def test_a_text_record_stays_on_its_line(forged: str, stream: io.StringIO) -> None:
    configure_logging(TEXT, stream)
    logger.info("got %s", forged, extra={"path": forged})
    assert len(stream.getvalue().splitlines()) == 1
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize("log", [TEXT, JSON])
def test_no_secret_reaches_the_stream(log: LogSettings, stream: io.StringIO) -> None:
    configure_logging(log, stream, secrets={'quoted"hunter2'})
    try:
        raise ValueError('quoted"hunter2 and Bearer hunter2')
    except ValueError:
        logger.exception(
            "header %s",
            "Bearer hunter2",
            extra={
                "text": 'quoted"hunter2',
                "key": "hunter2",
                "nested": {"a": ["sk-hunter2"]},
                "error": ValueError("sk-hunter2"),
            },
        )
    assert "hunter2" not in stream.getvalue()
    assert "ValueError" in stream.getvalue()


def test_an_exception_brings_its_trace(stream: io.StringIO) -> None:
    configure_logging(JSON, stream)
    try:
        raise KeyError("gone")
    except KeyError:
        logger.exception("failed")
    trace = json.loads(stream.getvalue())["trace"]
    assert trace.startswith("Traceback")
    assert "KeyError: 'gone'" in trace


def test_the_level_decides_what_is_logged(stream: io.StringIO) -> None:
    configure_logging(LogSettings(level="WARNING"), stream)
    logger.info("unimportant")
    logger.warning("important")
    assert "unimportant" not in stream.getvalue()
    assert "important" in stream.getvalue()


def test_configuring_again_replaces_our_handler_and_no_other(stream: io.StringIO) -> None:
    foreign = logging.NullHandler()
    logging.getLogger().addHandler(foreign)
    configure_logging(TEXT, io.StringIO())
    configure_logging(TEXT, stream)
    logger.info("once")
    assert stream.getvalue().count("once") == 1
    assert foreign in logging.getLogger().handlers
