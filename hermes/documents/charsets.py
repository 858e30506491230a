"""Decoding by the character set that a server names, as far as such names can be trusted."""

from __future__ import annotations

import codecs

# Codecs of Python that are no character sets; some of them take time in the square of the length.
_NO_CHARSETS = frozenset(
    {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "utf_7"}
)


def decoded(data: bytes, charset: str) -> str | None:
    """The text, with U+FFFD for what does not fit; None when there is no such character set."""
    try:
        codec = codecs.lookup(charset)
        if codec.name.replace("-", "_") in _NO_CHARSETS:
            return None
        return data.decode(codec.name, errors="replace")
    except (LookupError, ValueError):
        return None
