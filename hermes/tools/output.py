"""Keeping what tools say small and readable: caps that say what they cut, bounded buffers."""

from __future__ import annotations

import codecs

_ROOM_FOR_MARK = 60
_ROOM_FOR_HINT = 200
_UNITS = ("kB", "MB", "GB", "TB")


def cap(text: str, limit: int) -> str:
    """At most `limit` (100 or more) characters: head, tail, and how much is missing between."""
    if len(text) <= limit:
        return text
    room = limit - _ROOM_FOR_MARK
    head, tail = room - room // 2, room // 2
    return f"{text[:head]}{_mark(len(text) - room, 'characters')}{text[len(text) - tail :]}"


def cut_around(text: str, limit: int, output_id: str) -> str:
    """Like `cap`, for a text that is kept: the mark says how to read what is missing."""
    room = limit - _ROOM_FOR_HINT
    head, tail = room - room // 2, room // 2
    hint = (
        f"\n… {len(text) - room:,} of {len(text):,} characters cut; they begin at offset {head}: "
        f'read_output(id="{output_id}", offset={head}) …\n'
    )
    return f"{text[:head]}{hint}{text[len(text) - tail :]}"


def _mark(count: int, unit: str) -> str:
    return f"\n… {count:,} {unit} cut …\n"


def printable(text: str) -> str:
    """The text with NULs and lone surrogates spelled out, so that everything can carry it."""
    return text.encode(errors="backslashreplace").decode().replace("\0", "\\x00")


def one_line(text: str, limit: int = 100) -> str:
    """The text on a single line, shortened at its end."""
    # Only so much of the text can matter; a whole file as argument need not be split.
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def size_text(count: int) -> str:
    """A file size for reading: `17 bytes`, `1.2 MB`."""
    if count < 1000:
        return f"{count} bytes"
    power = min((len(str(count)) - 1) // 3, len(_UNITS))
    return f"{count / 1000**power:.1f} {_UNITS[power - 1]}"


class BoundedBuffer:
    """Takes any amount of bytes and keeps the first and the last half of `keep` of them."""

    def __init__(self, keep: int) -> None:
        self._half = max(keep // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        # Trimming only when it has doubled keeps the cost per byte constant.
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    def text(self) -> str:
        """What was kept, as text; bytes that are no UTF-8 show as U+FFFD."""
        tail = bytes(self._tail[-self._half :])
        if self.total == len(self._head) + len(tail):
            return (self._head + tail).decode(errors="replace")
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        head = decoder.decode(bytes(self._head))
        split = len(decoder.getstate()[0])
        whole = _without_split_start(tail)
        cut = self.total - len(self._head) + split - len(whole)
        return head + _mark(cut, "bytes") + whole.decode(errors="replace")


def _without_split_start(tail: bytes) -> bytes:
    """Without the rest of a character whose beginning was cut away."""
    start = 0
    while start < min(3, len(tail)) and tail[start] & 0xC0 == 0x80:
        start += 1
    return tail[start:]
