"""Unpacks what a server sent compressed, never to more than was allowed."""

from __future__ import annotations

import zlib

ENCODINGS = ("gzip", "x-gzip", "deflate", "identity", "")

_EITHER_HEADER = 32 + zlib.MAX_WBITS  # gzip's or zlib's own
_GZIP_MARK = b"\x1f\x8b"
_NO_HEADER = -zlib.MAX_WBITS


class TooLarge(Exception):
    """There is more than was allowed."""


class Unpacker:
    """Takes the pieces of a body as they arrive. Raises ValueError for what is not packed so."""

    def __init__(self, encoding: str, most: int) -> None:
        if encoding not in ENCODINGS:
            raise ValueError(encoding)
        self._most = most
        self._arrived = 0
        self._is_plain = encoding in ("identity", "")
        self._stream = zlib.decompressobj(_EITHER_HEADER)
        self._behind = b""
        """The first bytes behind the end: perhaps half of the next part's mark."""
        self.unpacked = bytearray()

    def add(self, piece: bytes) -> None:
        self._arrived += len(piece)
        if self._arrived > self._most:
            raise TooLarge
        if self._is_plain:
            self.unpacked += piece
        else:
            self._unpack(piece)

    def finish(self) -> bytes:
        if not self._is_plain and self._arrived and not self._stream.eof:
            raise ValueError("it ends in the middle")
        return bytes(self.unpacked)

    def _unpack(self, piece: bytes) -> None:
        piece = self._behind + piece
        while piece:
            if self._stream.eof:
                # gzip may come in several parts; anything else behind the end is padding.
                if not piece.startswith(_GZIP_MARK):
                    self._behind = piece[:2]
                    return
                self._behind = b""
                self._stream = zlib.decompressobj(_EITHER_HEADER)
            self._keep(self._some(piece))
            piece = self._stream.unconsumed_tail or self._stream.unused_data

    def _some(self, piece: bytes) -> bytes:
        room = self._most - len(self.unpacked) + 1
        try:
            return self._stream.decompress(piece, room)
        except zlib.error as error:
            if self.unpacked or self._arrived != len(piece):
                raise ValueError("it is damaged") from error
        # "deflate" without its header, as some servers send it.
        self._stream = zlib.decompressobj(_NO_HEADER)
        try:
            return self._stream.decompress(piece, room)
        except zlib.error as error:
            raise ValueError("it is damaged") from error

    def _keep(self, some: bytes) -> None:
        self.unpacked += some
        if len(self.unpacked) > self._most:
            raise TooLarge
