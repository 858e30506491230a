"""What people type into a search field, as an expression that FTS5 cannot misunderstand.

All words must be there. "Quoted words" must stand together, and a word with a star is only the
beginning of one. Everything else has no meaning: it is looked for, or left out.
"""

from __future__ import annotations

import re

MOST_TERMS = 32
MOST_BEGINNINGS = 4
"""Each may stand for thousands of words; a star on further ones has no meaning."""
_SHORTEST_BEGINNING = 2
"""With less, half of all there is would match."""

# Each character is looked at once: neither part can match what the other one begins with.
_TERM = re.compile(r'"([^"]*)"?(\*?)|([^\s"]+)')


def match_expression(typed: str) -> str | None:
    """For `MATCH`; None when there is nothing to look for."""
    readable = typed.replace("\x00", " ").encode(errors="replace").decode()
    found = filter(None, map(_term, _TERM.finditer(readable)))
    terms = list(dict.fromkeys(found))[:MOST_TERMS]
    beginnings = [term for term in terms if term.endswith("*")][:MOST_BEGINNINGS]
    return " AND ".join(t if t in beginnings else t.rstrip(" *") for t in terms) or None


def _term(found: re.Match[str]) -> str | None:
    phrase, star, word = found.groups()
    if word is not None:
        phrase, star = word.rstrip("*"), "*" if word.endswith("*") else ""
    letters = sum(1 for character in phrase if character.isalnum())
    if not letters:
        return None
    return f'"{phrase}"' + (" *" if star and letters >= _SHORTEST_BEGINNING else "")
