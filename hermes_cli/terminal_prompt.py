"""The line a person types at, with the history of what they typed before."""

from __future__ import annotations

import os
import readline
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hermes_cli.terminal_style import Style

_HISTORY_LENGTH = 1000
_MARK = "> "


@contextmanager
def typed_lines(history_file: Path, style: Style) -> Iterator[Iterator[str]]:
    """Lines as they are typed; they end with Ctrl-D or Ctrl-C. Kept for the owner's eyes only."""
    with suppress(OSError):
        readline.read_history_file(history_file)
    readline.set_history_length(_HISTORY_LENGTH)
    try:
        prompt = _prompt(style)
        yield iter(lambda: _typed(prompt), None)
    finally:
        # A history that cannot be kept is no reason to end with an error.
        with suppress(OSError):
            os.close(os.open(history_file, os.O_CREAT | os.O_WRONLY, 0o600))
            readline.write_history_file(history_file)


def answered_line(question: str) -> str | None:
    """The answer to a question, which no history keeps; None when the person would rather not."""
    readline.set_auto_history(False)
    try:
        sys.stderr.write(question)
        sys.stderr.flush()
        return input()
    except (EOFError, KeyboardInterrupt):
        sys.stderr.write("\n")
        return None
    finally:
        readline.set_auto_history(True)


def _typed(prompt: str) -> str | None:
    """One line, or None when the person wants to leave."""
    try:
        return _read_line(prompt)
    except (EOFError, KeyboardInterrupt):
        sys.stderr.write("\n")
        return None


def _read_line(prompt: str) -> str:
    if sys.stdout.isatty():
        return input(prompt)
    # The answers go into a file or a pipe, where a prompt has no place.
    sys.stderr.write(_MARK)
    sys.stderr.flush()
    return input()


def _prompt(style: Style) -> str:
    if not style.is_coloured:
        return _MARK
    # readline must not count the invisible characters, so they are bracketed.
    before, after = style.bold(_MARK).split(_MARK)
    return f"\001{before}\002{_MARK}\001{after}\002"
