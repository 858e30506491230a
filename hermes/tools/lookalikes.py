"""Characters that typesetters and models exchange for plain ones, each for exactly one."""

from __future__ import annotations

_PLAIN = {
    "'": "\u2018\u2019\u201a\u201b\u2032",
    '"': "\u201c\u201d\u201e\u201f\u2033",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
    " ": "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
}
_TABLE = str.maketrans({each: simple for simple, many in _PLAIN.items() for each in many})


def plain(text: str) -> str:
    """The text with plain quotes, dashes and spaces; every character keeps its place."""
    return text.translate(_TABLE)
