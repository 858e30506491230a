"""Sets up logging for a process. Everything else only asks for `logging.getLogger(__name__)`."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TextIO

from hermes.settings.log_lines import JsonLines, LineFormatter, TextLines
from hermes.settings.model import LogSettings


class _OwnHandler(logging.StreamHandler[TextIO]):
    """Ours, so that configuring again replaces it and leaves handlers of others alone."""


def configure_logging(log: LogSettings, stream: TextIO, *, secrets: Iterable[str] = ()) -> None:
    """Log to `stream`; `secrets` (see `Settings.secrets`) are masked wherever they turn up."""
    _leave_out_what_nobody_reads()
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if isinstance(handler, _OwnHandler)]:
        root.removeHandler(handler)
    handler = _OwnHandler(stream)
    handler.setFormatter(_formatter(log, secrets))
    root.addHandler(handler)
    root.setLevel(log.level)


def _leave_out_what_nobody_reads() -> None:
    """Our lines name no thread, process or line of code; finding them out takes a good part of a
    record's time, and every request has one. The switches are those the logging manual names."""
    logging.logThreads = False
    logging.logProcesses = False
    logging.logMultiprocessing = False
    logging._srcfile = None  # noqa: SLF001


def _formatter(log: LogSettings, secrets: Iterable[str]) -> LineFormatter:
    return JsonLines(secrets) if log.format == "json" else TextLines(secrets)
