"""Cuts a stream of bytes into server-sent events, however the network split them.

It does not look into the data; limits keep a broken server from filling the memory.
"""

from __future__ import annotations

from hermes.core.errors import ProviderError

LARGEST_EVENT = 32 * 1024 * 1024
MOST_UNREAD = 16 * 1024

NamedData = tuple[str | None, bytes]
"""The event's name, if it has one, and its data."""


class SseReader:
    """Fed with reads of any size; gives the events each read completes, in order."""

    def __init__(self, *, largest_event: int = LARGEST_EVENT) -> None:
        self._largest_event = largest_event
        self._parts: list[bytes] = []
        self._waiting = 0
        self._is_at_start = True

    def feed(self, data: bytes) -> list[NamedData]:
        """The events that are complete now."""
        if b"\n" in data or b"\r" in data:
            return self._cut(data)
        # A long event comes in many reads: they are joined once its line ends, not every time.
        self._parts.append(data)
        self._waiting += len(data)
        self._refuse_too_large()
        return []

    def unread(self) -> bytes | None:
        """What waits for its end, given back to be fed again; None when it is too much for that."""
        if not self._waiting:
            return b""
        if self._waiting > MOST_UNREAD:
            return None
        waiting = b"".join(self._parts)
        self._parts.clear()
        self._waiting = 0
        return waiting

    def rest(self) -> list[NamedData]:
        """At the end of the stream: an event whose closing blank line never came, if any."""
        return self._cut(b"\n\n")

    def _cut(self, data: bytes) -> list[NamedData]:
        blocks = self._joined(data).split(b"\n\n")
        self._wait_for_more(blocks.pop())
        events: list[NamedData] = []
        for block in blocks:
            # By far the most common shape, one data line: no need to look at lines.
            if block.startswith(b"data: ") and b"\n" not in block:
                events.append((None, block[6:]))
            else:
                event = _read_block(block)
                if event is not None:
                    events.append(event)
        return events

    def _joined(self, data: bytes) -> bytes:
        buffer = b"".join([*self._parts, data]) if self._parts else data
        if self._is_at_start:
            buffer = buffer.removeprefix(b"\xef\xbb\xbf")
            self._is_at_start = False
        return _with_plain_line_ends(buffer) if b"\r" in buffer else buffer

    def _wait_for_more(self, tail: bytes) -> None:
        self._parts = [tail] if tail else []
        self._waiting = len(tail)
        if tail:
            self._refuse_too_large()

    def _refuse_too_large(self) -> None:
        if self._waiting > self._largest_event:
            raise ProviderError(
                f"The provider sent an event of more than {self._largest_event} bytes.",
                code="garbled",
            )


def _with_plain_line_ends(buffer: bytes) -> bytes:
    # A final CR may be half of a CRLF: leave it until the next read shows.
    held = b"\r" if buffer.endswith(b"\r") else b""
    body = buffer[: len(buffer) - len(held)]
    return body.replace(b"\r\n", b"\n").replace(b"\r", b"\n") + held


def _read_block(block: bytes) -> NamedData | None:
    name: str | None = None
    data: list[bytes] = []
    for line in block.split(b"\n"):
        key, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if key == b"data":
            data.append(value)
        elif key == b"event":
            name = value.decode(errors="replace")
    return (name, b"\n".join(data)) if data else None
