"""The one error a tool raises on purpose, and how operating system errors become it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hermes.core.errors import HermesError


class ToolProblem(HermesError):
    """A tool could not do what was asked; the text tells the model what to do instead."""


@contextmanager
def explained(action: str) -> Iterator[None]:
    """Turn an `OSError` inside into a problem such as `Could not read a.txt: Is a directory.`"""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ToolProblem(f"Could not {action}: {reason}.") from error
