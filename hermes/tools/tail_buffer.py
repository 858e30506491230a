"""The last part of an output that may go on for ever, readable by its place in the whole."""

from __future__ import annotations

import threading
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A part of an output."""

    text: str
    start: int
    """Its place, in bytes from the beginning of the whole output."""
    end: int
    total: int


class TailBuffer:
    """Takes any amount of bytes and keeps the last `keep` of them. Safe to use from any thread."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._kept = bytearray()
        self._lock = threading.Lock()
        self.total = 0

    def add(self, chunk: bytes) -> None:
        with self._lock:
            self.total += len(chunk)
            self._kept += chunk
            # Trimming only when it has doubled keeps the cost per byte constant.
            if len(self._kept) > 2 * self._keep:
                del self._kept[: -self._keep]

    def page(self, start: int, limit: int) -> Page:
        """At most `limit` bytes (4 or more) from `start` on, or from the oldest that is left.

        Characters that are split at its ends are left to the pages beside it.
        """
        with self._lock:
            total, oldest = self.total, self.total - min(len(self._kept), self._keep)
            start = min(max(start, oldest), total)
            at = start - (total - len(self._kept))
            data = bytes(self._kept[at : at + limit])
        begin = _beginning_of_character(data) if start else 0
        start, data = start + begin, data[begin:]
        if start + len(data) < total:
            data = _whole_characters(data)
        text = data.decode(errors="replace")
        return Page(text=text, start=start, end=start + len(data), total=total)

    def last(self, limit: int) -> Page:
        return self.page(self.total - limit, limit)


def _beginning_of_character(data: bytes) -> int:
    """How many bytes at the start belong to a character whose beginning is missing."""
    begin = 0
    while begin < min(3, len(data)) and data[begin] & 0xC0 == 0x80:
        begin += 1
    return begin


def _whole_characters(data: bytes) -> bytes:
    """Without the beginning of a character whose end is missing."""
    for back in range(1, min(4, len(data)) + 1):
        if data[-back] & 0xC0 != 0x80:
            length = _length_of_character(data[-back])
            return data[:-back] if length > back else data
    return data


def _length_of_character(first: int) -> int:
    if first >= 0xF0:
        return 4
    return 3 if first >= 0xE0 else 2 if first >= 0xC0 else 1
