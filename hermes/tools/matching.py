"""Finds the place in a file that a model means, though it did not copy it exactly.

Exact comes first. Each further level forgives one kind of difference that carries no meaning;
none of them guesses by similarity, and whoever asks refuses more than one place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from hermes.tools.edits import Replacement, find_all
from hermes.tools.flat_text import FlatText, as_bytes
from hermes.tools.line_matching import LineLevel, find_lines, shared_start
from hermes.tools.lookalikes import plain

MOST_PLACES = 20
"""How many places a lenient level looks for: enough to know that there is not just one."""

_ESCAPED = re.compile(r"""\\([ntr"'\\])""")
_MEANT = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Match:
    """All places that were found, in the order of the file, and what was forgiven for them."""

    replacements: Sequence[Replacement]
    forgiven: str = ""
    """Empty for exact matches."""


@dataclass(frozen=True, slots=True)
class _Search:
    content: bytes
    flat: FlatText
    old: str
    new: str
    has_hope: bool = True
    """Whether any line of the text is in the file; if not, lines need not be compared."""


def find_exact(content: bytes, old: str, new: str) -> Match:
    """Every place, none overlapping another. Line feeds stand for the line ends of the file."""
    return Match(_exact(_Search(content, FlatText(content), old, new)))


def find_meant(content: bytes, old: str, new: str) -> Match:
    """The places of the strictest level that finds any; an ambiguous one is not alone."""
    flat = FlatText(content)
    longest = max((line.strip() for line in plain(old).splitlines()), key=len, default="")
    search = _Search(content, flat, old, new, longest in plain(flat.text))
    for forgiven, look in _LEVELS:
        found = look(search)
        if found:
            return Match(found, forgiven)
    return Match(())


def _exact(
    search: _Search, places_of: Callable[[bytes, bytes], list[int]] = find_all
) -> list[Replacement]:
    wanted = as_bytes(search.old)
    if "\r" in search.old:
        # Who writes carriage returns knows the ends of the file, and may want to change them.
        places, new = places_of(search.content, wanted), as_bytes(search.new)
        return [Replacement(at, at + len(wanted), new) for at in places]
    places = places_of(search.flat.flat, wanted)
    return [search.flat.replacement(at, at + len(wanted), search.new) for at in places]


def _alone_or_not(search: _Search) -> list[Replacement]:
    """Like `_exact`; but where two places overlap, both: nobody knows which is meant."""
    return _exact(search, _places_with_overlap)


def _places_with_overlap(content: bytes, wanted: bytes) -> list[int]:
    places = find_all(content, wanted)
    if len(places) == 1:
        second = content.find(wanted, places[0] + 1)
        places += [second] if second >= 0 else []
    return places


def _with_line_feeds(search: _Search) -> list[Replacement]:
    if "\r\n" not in search.old:
        return []
    old, new = search.old.replace("\r\n", "\n"), search.new.replace("\r\n", "\n")
    return _alone_or_not(_Search(search.content, search.flat, old, new))


def _unescaped(search: _Search) -> list[Replacement]:
    """For text that was escaped once too often: `\\n` for a line feed, `\\"` for a quote."""
    # A real line feed beside an escaped one shows that the escaped one is meant as it stands.
    if "\n" in search.old + search.new or not _ESCAPED.search(search.old):
        return []
    old, new = _meaning(search.old), _meaning(search.new)
    return _alone_or_not(_Search(search.content, search.flat, old, new))


def _meaning(text: str) -> str:
    return _ESCAPED.sub(lambda found: _MEANT.get(found[1], found[1]), text)


def _with_lookalikes(search: _Search) -> list[Replacement]:
    """Typographic characters for plain ones. What stays the same keeps those of the file."""
    text, old, new = search.flat.text, plain(search.old), plain(search.new)
    head = shared_start(old, new)
    tail = shared_start(old[head:][::-1], new[head:][::-1])
    middle = search.new[head : len(new) - tail]
    found = []
    for at in _places(plain(text), old):
        start = len(as_bytes(text[: at + head]))
        length = len(as_bytes(text[at + head : at + len(old) - tail]))
        found.append(search.flat.replacement(start, start + length, middle))
    return found


def _places(text: str, wanted: str) -> Iterator[int]:
    """Also those that overlap."""
    at = text.find(wanted)
    for _ in range(MOST_PLACES):
        if at < 0:
            return
        yield at
        at = text.find(wanted, at + 1)


def _by_lines(level: LineLevel) -> Callable[[_Search], list[Replacement]]:
    return lambda search: (
        find_lines(search.flat, search.old, search.new, level, MOST_PLACES)
        if search.has_hope
        else []
    )


_LOOKALIKES = "typographic quotes, dashes or spaces"

_LEVELS: tuple[tuple[str, Callable[[_Search], list[Replacement]]], ...] = (
    ("", _alone_or_not),
    ("line ends", _with_line_feeds),
    (_LOOKALIKES, _with_lookalikes),
    ("blank lines around it", _by_lines(LineLevel())),
    ("spaces at the end of lines", _by_lines(LineLevel(spaces=True))),
    (
        f"spaces at the end of lines, {_LOOKALIKES}",
        _by_lines(LineLevel(spaces=True, lookalikes=True)),
    ),
    ("indentation", _by_lines(LineLevel(spaces=True, indentation=True))),
    (
        f"indentation, {_LOOKALIKES}",
        _by_lines(LineLevel(spaces=True, lookalikes=True, indentation=True)),
    ),
    ("escape sequences", _unescaped),
)
