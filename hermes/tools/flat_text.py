"""A file's bytes as text with plain line feeds, and the way back from there to its bytes.

Models read lines without their ends, so they cannot know which ends a file has.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from hermes.tools.edits import Lines, Replacement


class FlatText:
    """Bytes that are no UTF-8 come through unharmed, as lone surrogates.

    Lines are only cut where they are needed: of a large file they take much memory.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._has_returns = b"\r\n" in content
        self.flat = content.replace(b"\r\n", b"\n") if self._has_returns else content

    @cached_property
    def raw(self) -> Lines:
        """The lines as the file has them."""
        return Lines(self._content)

    @cached_property
    def text(self) -> str:
        return self.flat.decode(errors="surrogateescape")

    @cached_property
    def lines(self) -> list[str]:
        """Without their ends."""
        lines = self.text.split("\n")
        return lines if lines[-1] else lines[:-1]

    def replacement(self, start: int, end: int, new: str) -> Replacement:
        """`start` and `end` count flat bytes; `new` gets the line ends of where it comes to."""
        if not self._has_returns:
            return Replacement(start, end, with_ends(new, b"\n"))
        first = self._place(start)
        ending = self.ending_at(self.raw.number_at(first))
        return Replacement(first, self._place(end), with_ends(new, ending))

    def ending_at(self, line: int) -> bytes:
        """How this line ends; one without an end is given that of the line before it."""
        for each in self.raw.all[line : line + 1], self.raw.all[max(line - 1, 0) : line]:
            if each and each[0].endswith(b"\n"):
                return b"\r\n" if each[0].endswith(b"\r\n") else b"\n"
        return b"\n"

    @cached_property
    def _flat_starts(self) -> list[int]:
        return Lines(self.flat).starts

    def _place(self, at: int) -> int:
        """The same place in the file's own bytes."""
        line = bisect_right(self._flat_starts, at) - 1
        return self.raw.starts[line] + at - self._flat_starts[line]


def with_ends(text: str, ending: bytes) -> bytes:
    return as_bytes(text).replace(b"\r\n", b"\n").replace(b"\n", ending)


def as_bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")
