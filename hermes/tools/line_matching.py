"""Finds whole lines of a file that mean the same as a model's, and what comes in their place.

Lines that the model did not mean to change stay as the file has them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

from hermes.tools.edits import Replacement
from hermes.tools.flat_text import FlatText, with_ends
from hermes.tools.lookalikes import plain

_BLANK = " \t\r"
_COMPARED = 400  # lines; comparing more takes too long


@dataclass(frozen=True, slots=True, kw_only=True)
class LineLevel:
    """What is forgiven; blank lines around the text always are."""

    spaces: bool = False
    """At the end of lines."""
    lookalikes: bool = False
    indentation: bool = False
    """If it differs by the same for all lines."""

    def essences(self, lines: Iterable[str]) -> Iterator[str]:
        """What is compared of each line."""
        # Without a loop of our own: there may be millions of lines.
        found = map(plain, lines) if self.lookalikes else iter(lines)
        found = map(str.rstrip, found, repeat(_BLANK)) if self.spaces else found
        return map(str.lstrip, found, repeat(_BLANK)) if self.indentation else found


@dataclass(frozen=True, slots=True)
class _Text:
    """A text of the model as lines, without the blank ones around it."""

    lines: list[str]
    blank_before: int
    blank_after: int
    is_ended: bool
    """Whether it ends with a line feed."""


def find_lines(
    flat: FlatText, old_text: str, new_text: str, level: LineLevel, most: int
) -> list[Replacement]:
    """At most `most` places, also those that overlap."""
    old = _taken_apart(old_text)
    if not old.lines:
        return []
    new = _without_blanks_of(old, new_text)
    lines = flat.lines
    found = []
    for at in _places(lines, old.lines, level, most):
        there = lines[at : at + len(old.lines)]
        put = _reindented(new.lines, old.lines, there) if level.indentation else new.lines
        if put is not None:
            kept = _kept(old.lines, new.lines, level)
            found.append(_Lines(flat, at, len(there)).replacement(put, kept, old, new))
    return found


def _taken_apart(text: str) -> _Text:
    lines = text.replace("\r\n", "\n").split("\n")
    is_ended = lines[-1] == ""
    if is_ended:
        lines.pop()
    before = next((at for at, line in enumerate(lines) if line.strip(_BLANK)), len(lines))
    after = next((at for at, line in enumerate(lines[::-1]) if line.strip(_BLANK)), 0)
    return _Text(lines[before : len(lines) - after], before, after, is_ended or after > 0)


def _without_blanks_of(old: _Text, new_text: str) -> _Text:
    """Blank lines around the old text that the file lacks are not put into it with the new."""
    new = _taken_apart(new_text)
    before = max(new.blank_before - old.blank_before, 0)
    after = max(new.blank_after - old.blank_after, 0)
    # Where there was a blank line, the model did not mean to melt this line into the next.
    is_ended = new.is_ended or old.blank_after > 0
    return _Text([""] * before + new.lines + [""] * after, before, after, is_ended)


def _places(lines: Sequence[str], old: Sequence[str], level: LineLevel, most: int) -> Iterator[int]:
    text = "\n".join(["", *level.essences(lines), ""])
    wanted = "\n".join(["", *level.essences(old), ""])
    place = text.find(wanted)
    for _ in range(most):
        if place < 0:
            return
        at = text.count("\n", 0, place)
        if not level.indentation or _is_uniform(old, lines[at : at + len(old)], level):
            yield at
        place = text.find(wanted, place + 1)


def _is_uniform(old: Sequence[str], there: Sequence[str], level: LineLevel) -> bool:
    ours, theirs = len(_indentation(old)), len(_indentation(there))
    shifted = replace(level, indentation=False)
    return all(
        line == other or not line.strip(_BLANK)
        for line, other in zip(
            shifted.essences(line[ours:] for line in old),
            shifted.essences(line[theirs:] for line in there),
            strict=True,
        )
    )


def _indentation(lines: Sequence[str]) -> str:
    """What all lines that are not blank begin with."""
    starts = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip(_BLANK)]
    # What the first and the last in alphabetical order share, all share.
    return min(starts)[: shared_start(min(starts), max(starts))] if starts else ""


def shared_start(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _reindented(new: Sequence[str], old: Sequence[str], there: Sequence[str]) -> list[str] | None:
    """The new lines moved as far as the old ones are; None when one of them cannot be."""
    ours, theirs = _indentation(old), _indentation(there)
    if theirs.endswith(ours):
        ours, theirs = "", theirs.removesuffix(ours)
    elif ours.endswith(theirs):
        ours, theirs = ours.removesuffix(theirs), ""
    if not all(line.startswith(ours) for line in new if line.strip(_BLANK)):
        return None
    return [theirs + line[len(ours) :] if line.strip(_BLANK) else line for line in new]


def _kept(old: Sequence[str], new: Sequence[str], level: LineLevel) -> dict[int, int]:
    """Which new lines are which of the old ones."""
    if max(len(old), len(new)) > _COMPARED:
        return {}
    indented = replace(level, indentation=False)
    matcher = difflib.SequenceMatcher(
        None, list(indented.essences(old)), list(indented.essences(new)), autojunk=False
    )
    return {
        block.b + step: block.a + step
        for block in matcher.get_matching_blocks()
        for step in range(block.size)
    }


@dataclass(frozen=True, slots=True)
class _Lines:
    """Some lines of the file."""

    flat: FlatText
    at: int
    count: int

    def replacement(
        self, put: Sequence[str], kept: dict[int, int], old: _Text, new: _Text
    ) -> Replacement:
        starts, raw = self.flat.raw.starts, self.flat.raw.all
        last = raw[self.at + self.count - 1]
        end = starts[self.at + self.count] - (0 if old.is_ended else len(_end_of(last)))
        text = b"".join(
            self._ended(raw[self.at + kept[at]]) if at in kept else self._ended(as_line)
            for at, as_line in enumerate(with_ends(line, b"\n") for line in put)
        )
        # A last line without an end is left without one.
        if not new.is_ended or not _end_of(last):
            text = text[: len(text) - len(_end_of(text))]
        return Replacement(starts[self.at], end, text)

    def _ended(self, line: bytes) -> bytes:
        return line if line.endswith(b"\n") else line + self.flat.ending_at(self.at)


def _end_of(line: bytes) -> bytes:
    return b"\r\n" if line.endswith(b"\r\n") else b"\n" if line.endswith(b"\n") else b""
