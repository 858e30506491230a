"""Opening files for the model: text only, with a useful answer for everything else."""

from __future__ import annotations

import difflib
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from hermes.tools.output import size_text
from hermes.tools.problem import ToolProblem, explained

_SNIFFED = 8192
_CHUNK = 65_536
_NEIGHBOURS = 1000


def open_text(path: Path, shown: str) -> BinaryIO:
    """Open a text file for reading bytes; anything else is a problem that says what it is."""
    with explained(f"read {shown}"), ExitStack() as opened:
        size = _regular_size(path, shown)
        file = opened.enter_context(path.open("rb"))
        if b"\0" in file.read(_SNIFFED):
            raise ToolProblem(f"{shown} is binary ({size_text(size)}); only text can be read.")
        file.seek(0)
        opened.pop_all()
        return file


def _regular_size(path: Path, shown: str) -> int:
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise ToolProblem(f"{shown} does not exist.{_similar(path)}") from error
    if stat.S_ISDIR(status.st_mode):
        raise ToolProblem(f"{shown} is a directory. Use list_files to see what is in it.")
    if not stat.S_ISREG(status.st_mode):
        raise ToolProblem(f"{shown} is a device or pipe, not a file; it cannot be read.")
    return status.st_size


def _similar(path: Path) -> str:
    if not path.parent.is_dir():
        return " Its directory does not exist either; use list_files to find the right one."
    names = [each.name for each in islice(path.parent.iterdir(), _NEIGHBOURS)]
    close = difflib.get_close_matches(path.name, names, n=3)
    return f" Did you mean {' or '.join(close)}?" if close else " Use list_files to find it."


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end; of a long one only the beginning."""

    start: bytes
    dropped: int
    """Bytes that followed `start`."""


def lines_of(file: BinaryIO, longest: int) -> Iterator[Line]:
    """The lines of a file; of one line never more than a chunk (64 kB) is in memory."""
    while piece := file.readline(_CHUNK):
        start, length, end = piece[:longest], len(piece), piece[-2:]
        while not end.endswith(b"\n") and (piece := file.readline(_CHUNK)):
            length, end = length + len(piece), (end + piece)[-2:]
        length -= 2 if end == b"\r\n" else end.endswith(b"\n")
        start = start[:length]
        yield Line(start, length - len(start))
