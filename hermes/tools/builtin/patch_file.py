"""The `patch_file` tool: replaces a piece of text, or explains why it could not."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Annotated

from hermes.private_files import replace_file
from hermes.tools.base import ToolContext, ToolProblem, tool
from hermes.tools.edits import Lines, replaced, unified_diff
from hermes.tools.matching import MOST_PLACES, Match, find_exact, find_meant
from hermes.tools.output import one_line, size_text
from hermes.tools.problem import explained
from hermes.tools.reading import open_text
from hermes.tools.tracking import tracked_file

_LARGEST = 10_000_000
_LISTED = 20
_COMPARED_LINES = 20_000
_COMPARED_LENGTH = 300


@tool(toolset="files", preview=lambda arguments: str(arguments.get("path", "")))
def patch_file(
    context: ToolContext,
    path: Annotated[str, "The file, relative to the workspace."],
    old_text: Annotated[str, "The text to replace, copied exactly, and enough to occur only once."],
    new_text: Annotated[str, "What to put in its place; empty to delete."],
    replace_all: Annotated[bool, "Replace every exact occurrence instead of only one."] = False,
) -> str:
    """Replace a piece of text in a file and return the change as a unified diff.

    If nothing matches exactly, one place that differs in spacing, indentation or typographic
    characters only is taken, and the answer says so.
    """
    place = context.workspace.resolve(path)
    shown = context.workspace.show(place)
    with open_text(place, shown) as file, explained(f"read {shown}"):
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ToolProblem(f"{shown} is over {size_text(_LARGEST)}; change it with a command.")
    _check(old_text, new_text)
    find = find_exact if replace_all else find_meant
    match = find(content, old_text, new_text)
    if not match.replacements:
        raise ToolProblem(_nothing_found(context, shown, content, old_text))
    if len(match.replacements) > 1 and not replace_all:
        raise ToolProblem(_ambiguous(shown, content, match))
    changed = replaced(content, match.replacements)
    if changed == content:
        raise ToolProblem(f"{shown} is so already; nothing was changed.")
    with explained(f"write {shown}"), tracked_file(context, place):
        replace_file(place, changed)
    return unified_diff(shown, content, match.replacements) + _note(match)


def _check(old_text: str, new_text: str) -> None:
    if not old_text:
        raise ToolProblem("old_text is empty; give the text to replace, or use write_file.")
    if old_text == new_text:
        raise ToolProblem("old_text and new_text are the same; there is nothing to change.")
    try:
        (old_text + new_text).encode()
    except UnicodeEncodeError as error:
        raise ToolProblem("The text has half a surrogate pair, which no file can hold.") from error


def _note(match: Match) -> str:
    if not match.forgiven:
        return ""
    return f"[Not an exact match; this was not compared: {match.forgiven}. Check the change.]"


def _ambiguous(shown: str, content: bytes, match: Match) -> str:
    lines = Lines(content)
    places = [lines.number_at(each.start) + 1 for each in match.replacements]
    numbers = ", ".join(map(str, places[:_LISTED])) + (", …" if len(places) > _LISTED else "")
    unique = "nothing was changed. Add neighbouring lines to make it unique"
    if not match.forgiven:
        count = f"{len(places)} times in {shown} (lines {numbers})"
        return f"old_text occurs {count}; {unique}, or set replace_all to true."
    many = f"{len(places)} or more" if len(places) >= MOST_PLACES else str(len(places))
    return (
        f"old_text does not occur exactly in {shown}. Not comparing {match.forgiven}, it occurs "
        f"in {many} places (lines {numbers}); {unique}, and copy it exactly."
    )


def _nothing_found(context: ToolContext, shown: str, content: bytes, old: str) -> str:
    lines = [line.decode(errors="replace") for line in Lines(content).all[:_COMPARED_LINES]]
    wanted = max(old.splitlines(), key=lambda line: len(line.strip()), default="")
    close = _closest(context, wanted.strip()[:_COMPARED_LENGTH], lines)
    text = f"old_text does not occur in {shown}; nothing was changed. It must match exactly"
    if not close:
        return f"{text}, and no line is similar. Read the file again."
    listed = "\n".join(f"{number + 1:>6}\t{one_line(lines[number], 200)}" for number in close)
    return f"{text}, including spaces. The closest lines to {one_line(wanted, 80)!r} are:\n{listed}"


def _closest(context: ToolContext, wanted: str, lines: Sequence[str]) -> list[int]:
    """Indexes of the (at most three) lines most like `wanted`, in the order of the file."""
    matcher = difflib.SequenceMatcher(b=wanted, autojunk=False)
    rated: list[tuple[float, int]] = []
    for index, line in enumerate(lines):
        context.check_stop()
        matcher.set_seq1(line.strip()[:_COMPARED_LENGTH])
        # The quick ratios are upper bounds, so most lines never pay for the real one.
        if matcher.real_quick_ratio() > 0.6 and matcher.quick_ratio() > 0.6:
            rated.append((matcher.ratio(), index))
    best = sorted((each for each in rated if each[0] > 0.6), key=lambda each: -each[0])[:3]
    return sorted(index for _ratio, index in best)
