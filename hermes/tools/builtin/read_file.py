"""The `read_file` tool: a part of a text file, with line numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, BinaryIO

from hermes.tools.base import ToolContext, ToolProblem, tool
from hermes.tools.problem import explained
from hermes.tools.reading import Line, lines_of, open_text
from hermes.tools.schema import Between

_LONGEST_LINE = 2000
_MOST_TEXT = 40_000
_MANY = 1_000_000_000


@tool(
    toolset="files",
    preview=lambda arguments: str(arguments.get("path", "")),
    is_parallel=True,
)
def read_file(
    context: ToolContext,
    path: Annotated[str, "The file, relative to the workspace."],
    offset: Annotated[int, "First line to read, counted from 1.", Between(1, _MANY)] = 1,
    limit: Annotated[int, "How many lines to read.", Between(1, 5000)] = 500,
) -> str:
    """Read a text file. Each line is shown as its number, a tab and its text.

    Number and tab are not part of the file: leave them out when you patch or write it.
    """
    place = context.workspace.resolve(path)
    shown = context.workspace.show(place)
    with open_text(place, shown) as file, explained(f"read {shown}"):
        return _Reader(context, shown, offset, limit).read(file)


class _Reader:
    """Reads one window of lines and remembers what to say about it."""

    def __init__(self, context: ToolContext, shown: str, offset: int, limit: int) -> None:
        self._context = context
        self._shown = shown
        self._offset = offset
        self._limit = limit
        self._is_damaged = False

    def read(self, file: BinaryIO) -> str:
        texts: list[str] = []
        room, number = _MOST_TEXT, 0
        for number, line in self._numbered(file):
            if number < self._offset:
                continue
            text = f"{number:>6}\t{self._text(line)}"
            room -= len(text)
            if len(texts) == self._limit or (room < 0 and texts):
                return self._with_notes(texts, f"More lines follow; read on with offset={number}.")
            texts.append(text)
        if not texts:
            raise self._nothing(number)
        return self._with_notes(texts, f"End of file, {number:,} lines.")

    def _numbered(self, file: BinaryIO) -> Iterator[tuple[int, Line]]:
        for number, line in enumerate(lines_of(file, _LONGEST_LINE), start=1):
            self._context.check_stop()
            yield number, line

    def _text(self, line: Line) -> str:
        text = line.start.decode(errors="replace")
        # A replacement character may also stand in the file, or come from our own cut.
        if "\ufffd" in text and not line.dropped and "\ufffd".encode() not in line.start:
            self._is_damaged = True
        return f"{text} … {line.dropped:,} bytes cut …" if line.dropped else text

    def _with_notes(self, texts: list[str], ending: str) -> str:
        damage = " Bytes that are not UTF-8 are shown as \ufffd." if self._is_damaged else ""
        return "\n".join(texts) + f"\n[{ending}{damage}]"

    def _nothing(self, lines: int) -> ToolProblem:
        if lines == 0:
            return ToolProblem(f"{self._shown} is empty.")
        return ToolProblem(
            f"{self._shown} has only {lines:,} lines; offset={self._offset} is past its end."
        )
