"""Output in pieces becomes lines, of any length up to a limit; and the end of it is kept. Pure."""

from __future__ import annotations

from collections.abc import Iterator

STDERR_TAIL = 64 * 1024


class LineSplitter:
    """Takes pieces and gives lines, without their line feeds. None stands for one over the limit.

    The cost per byte does not grow with the length of a line.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._length = 0

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        first, *others = chunk.split(b"\n")
        self._add(first)
        for piece in others:
            yield self._line()
            self._add(piece)

    @property
    def has_rest(self) -> bool:
        """Whether something came after the last line feed."""
        return self._length > 0

    def rest(self) -> bytes | None:
        """What came after the last line feed."""
        return self._line()

    def _add(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._length > self._limit:
            self._pieces.clear()  # nobody will read it: it need not be held
        elif piece:
            self._pieces.append(piece)

    def _line(self) -> bytes | None:
        line = b"".join(self._pieces) if self._length <= self._limit else None
        self._pieces.clear()
        self._length = 0
        return line


class Tail:
    """The last bytes of an output that may be endless."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._kept = bytearray()
        self.is_cut = False
        """Whether something came before what is kept."""

    def add(self, chunk: bytes) -> None:
        self._kept += chunk
        # Trimming only when it has doubled keeps the cost per byte constant.
        if len(self._kept) > 2 * self._keep:
            self._trim()

    def text(self) -> str:
        self._trim()
        return self._kept.decode(errors="replace")

    def _trim(self) -> None:
        if len(self._kept) > self._keep:
            self.is_cut = True
            del self._kept[: -self._keep]
