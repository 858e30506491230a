"""A log record as one line: text for people or JSON for machines, with its extra fields, masked."""

from __future__ import annotations

import functools
import json
import logging
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from hermes.settings.redaction import MASK, Mask, names_a_secret

_OWN_FIELDS = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
_hides = functools.lru_cache(maxsize=256)(names_a_secret)
_PLAIN = re.compile(r"[^\s\"'=\\\x00-\x1f\x7f]+")
_PLAIN_VALUES = (bool, int, float, type(None))
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\x85\u2028\u2029]")


class LineFormatter(logging.Formatter):
    """What both forms share: the masked message, fields and trace of a record."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        self._mask = Mask(secrets).over

    def _message(self, record: logging.LogRecord) -> str:
        return self._mask(record.getMessage())

    def _fields(self, record: logging.LogRecord) -> dict[str, Any]:
        return {
            name: MASK if _hides(name) and value else self._masked(value)
            for name, value in record.__dict__.items()
            if name not in _OWN_FIELDS
        }

    def _masked(self, value: object) -> Any:
        if value.__class__ is str:  # as nearly always
            return self._mask(value)
        return value if isinstance(value, _PLAIN_VALUES) else self._mask(str(value))

    def _trace(self, record: logging.LogRecord) -> str:
        if not (record.exc_info or record.stack_info):
            return ""
        parts = []
        if record.exc_info:
            parts.append(self.formatException(record.exc_info))
        if record.stack_info:
            parts.append(self.formatStack(record.stack_info))
        return self._mask("\n".join(parts))


class TextLines(LineFormatter):
    """`2026-04-14T09:30:00.125Z INFO hermes.server request method=POST status=200`"""

    def format(self, record: logging.LogRecord) -> str:
        fields = [f"{name}={_quoted(value)}" for name, value in self._fields(record).items()]
        # What a client sent must not be able to forge a line of its own.
        message = _CONTROL.sub(lambda found: repr(found.group())[1:-1], self._message(record))
        line = " ".join((_time(record), record.levelname, record.name, message, *fields))
        trace = self._trace(record)
        return f"{line}\n{trace}" if trace else line


class JsonLines(LineFormatter):
    """One object per line: time, level, logger, message, the fields, a trace if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        trace = self._trace(record)
        return json.dumps(
            {
                **self._fields(record),
                "time": _time(record),
                "level": record.levelname,
                "logger": record.name,
                "message": self._message(record),
                **({"trace": trace} if trace else {}),
            }
        )


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _quoted(value: object) -> str:
    text = str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text)
