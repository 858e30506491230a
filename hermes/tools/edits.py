"""Replacements in bytes, and the unified diff that shows them. All costs are linear."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Replacement:
    """What comes into the place of the bytes from `start` up to `end`."""

    start: int
    end: int
    new: bytes


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines of the old file and what stands in their place. `start` counts from zero."""

    start: int
    removed: Sequence[bytes]
    added: Sequence[bytes]

    @property
    def end(self) -> int:
        return self.start + len(self.removed)


class Lines:
    """A file's content, cut after every line feed."""

    def __init__(self, content: bytes) -> None:
        self.all = split_lines(content)
        self.starts = [0, *accumulate(map(len, self.all))]
        """Where each line begins, and at last where the content ends."""

    def number_at(self, place: int) -> int:
        """Which line (from zero) holds the byte at `place`."""
        return min(bisect_right(self.starts, place) - 1, len(self.all) - 1)


def split_lines(content: bytes) -> list[bytes]:
    """Lines with their ends. Unlike `splitlines`, a lone carriage return ends nothing."""
    *whole, rest = content.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


def find_all(content: bytes, wanted: bytes) -> list[int]:
    """Where `wanted` begins in `content`, from left to right, without overlaps."""
    places = []
    place = content.find(wanted)
    while place >= 0:
        places.append(place)
        place = content.find(wanted, place + len(wanted))
    return places


def replaced(content: bytes, replacements: Sequence[Replacement]) -> bytes:
    """The content with all replacements made; they are in order and do not overlap."""
    return _replaced(content, replacements, 0, len(content))


def _replaced(content: bytes, replacements: Sequence[Replacement], at: int, end: int) -> bytes:
    pieces = []
    for each in replacements:
        pieces += [content[at : each.start], each.new]
        at = each.end
    return b"".join([*pieces, content[at:end]])


def unified_diff(name: str, content: bytes, replacements: Sequence[Replacement]) -> str:
    """The diff of making the replacements, which are in order and do not overlap."""
    lines = Lines(content)
    edits = [_trimmed(edit) for edit in _edits(lines, content, replacements)]
    text = [f"--- {name}\n", f"+++ {name}\n"]
    shift = 0
    for hunk in _hunks([edit for edit in edits if edit.removed or edit.added]):
        text.append(_hunk_text(hunk, lines.all, shift))
        shift += sum(len(edit.added) - len(edit.removed) for edit in hunk)
    return "".join(text)


@dataclass(slots=True)
class _Region:
    """Lines that hang together, and what is replaced in them."""

    first: int
    last: int
    replacements: list[Replacement]


def _edits(lines: Lines, content: bytes, replacements: Sequence[Replacement]) -> Iterator[Edit]:
    for region in _regions(lines, content, replacements):
        start, end = lines.starts[region.first], lines.starts[region.last + 1]
        added = split_lines(_replaced(content, region.replacements, start, end))
        yield Edit(region.first, lines.all[region.first : region.last + 1], added)


def _regions(
    lines: Lines, content: bytes, replacements: Sequence[Replacement]
) -> Iterator[_Region]:
    """Between two regions is an untouched line."""
    region: _Region | None = None
    for each in replacements:
        first, last = _touched(lines, content, each)
        if region and first <= region.last + 1:
            region.last = last
            region.replacements.append(each)
        else:
            if region:
                yield region
            region = _Region(first, last, [each])
    if region:
        yield region


def _touched(lines: Lines, content: bytes, each: Replacement) -> tuple[int, int]:
    """First and last line that change."""
    # Without its line feed a line melts into the next one, which therefore belongs to it.
    melts = each.start == each.end or content[each.end - 1 : each.end] == b"\n"
    return lines.number_at(each.start), lines.number_at(each.end if melts else each.end - 1)


def _trimmed(edit: Edit) -> Edit:
    """Without the lines that are the same before and after."""
    shorter = min(len(edit.removed), len(edit.added))
    head = 0
    while head < shorter and edit.removed[head] == edit.added[head]:
        head += 1
    tail = 0
    while tail < shorter - head and edit.removed[-1 - tail] == edit.added[-1 - tail]:
        tail += 1
    return Edit(
        edit.start + head,
        edit.removed[head : len(edit.removed) - tail],
        edit.added[head : len(edit.added) - tail],
    )


def _hunks(edits: Sequence[Edit]) -> Iterator[list[Edit]]:
    hunk: list[Edit] = []
    for edit in edits:
        if hunk and edit.start - hunk[-1].end > 2 * _CONTEXT:
            yield hunk
            hunk = []
        hunk.append(edit)
    if hunk:
        yield hunk


def _hunk_text(hunk: Sequence[Edit], old_lines: Sequence[bytes], shift: int) -> str:
    start = max(hunk[0].start - _CONTEXT, 0)
    end = min(hunk[-1].end + _CONTEXT, len(old_lines))
    body: list[str] = []
    at = start
    for edit in hunk:
        body += [_marked(" ", line) for line in old_lines[at : edit.start]]
        body += [_marked("-", line) for line in edit.removed]
        body += [_marked("+", line) for line in edit.added]
        at = edit.end
    body += [_marked(" ", line) for line in old_lines[at:end]]
    grown = sum(len(edit.added) - len(edit.removed) for edit in hunk)
    before = _range(start, end - start)
    after = _range(start + shift, end - start + grown)
    return f"@@ -{before} +{after} @@\n" + "".join(body)


def _range(start: int, count: int) -> str:
    """As the format wants it: an empty range names the line before it."""
    return f"{start + 1 if count else start},{count}"


def _marked(sign: str, line: bytes) -> str:
    text = sign + line.decode(errors="replace")
    return text if text.endswith("\n") else text + "\n\\ No newline at end of file\n"
