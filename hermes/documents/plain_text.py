"""Text files of any origin as text: UTF-8, UTF-16 and UTF-32 by their marks, else Windows' own."""

from __future__ import annotations

import codecs
import re

_MARKS = (
    # The longer ones first: UTF-32's mark begins with UTF-16's.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_GUESSES = ("utf-8", "cp1252", "latin-1")
_NOT_IN_TEXT = re.compile(r"[\x00-\x07\x0e-\x1a\x1c-\x1f]")
_LOOKED_AT = 100_000


def decode_text(data: bytes) -> str | None:
    """The text, with line ends as `\\n`; None when these bytes are no text."""
    marked = next((codec for mark, codec in _MARKS if data.startswith(mark)), None)
    for codec in _GUESSES if marked is None else (marked,):
        try:
            text = data.decode(codec)
        except UnicodeDecodeError:
            continue
        # Every sequence of bytes is some Latin-1; control characters give away what is no text.
        if "\x00" in text or (codec != "utf-8" and _NOT_IN_TEXT.search(text[:_LOOKED_AT])):
            return None
        return text.replace("\r\n", "\n").replace("\r", "\n")
    return None


def shortened(text: str, most: int) -> str:
    """Nothing is cut in silence: the model can tell the reader that it has not seen all."""
    if len(text) <= most:
        return text
    return f"{text[:most]}\n[Cut here: {len(text) - most} more characters were left out.]"
