"""The `list_files` tool: what is in a directory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

from hermes.tools.base import ToolContext, ToolProblem, tool
from hermes.tools.output import size_text
from hermes.tools.problem import explained
from hermes.tools.scan import SKIPPED_FOLDERS
from hermes.tools.schema import Between

_MOST_SHOWN = 500
_MOST_SCANNED = 20_000


@tool(
    toolset="files",
    preview=lambda arguments: str(arguments.get("path", ".")),
    is_parallel=True,
)
def list_files(
    context: ToolContext,
    path: Annotated[str, "The directory, relative to the workspace."] = ".",
    depth: Annotated[int, "How many levels to show.", Between(1, 5)] = 1,
    hidden: Annotated[bool, "Also show names that begin with a dot."] = False,
) -> str:
    """List a directory: sub-directories first, ending in a slash, then files with sizes.

    The contents of .git and node_modules are left out.
    """
    place = context.workspace.resolve(path)
    shown = context.workspace.show(place)
    with explained(f"list {shown}"):
        if not place.is_dir():
            missing = "missing; list its parent directory"
            raise ToolProblem(
                f"{shown} is {'a file; use read_file' if place.exists() else missing}."
            )
        lines = list(islice(_listing(context, place, depth, hidden=hidden), _MOST_SHOWN + 1))
    if len(lines) > _MOST_SHOWN:
        lines[_MOST_SHOWN:] = [
            f"[Only the first {_MOST_SHOWN} entries; list a sub-directory or less depth.]"
        ]
    nothing = "is empty" if hidden else "has nothing to show but perhaps hidden files"
    return "\n".join(lines) or f"{shown} {nothing}."


def _listing(context: ToolContext, folder: Path, depth: int, *, hidden: bool) -> Iterator[str]:
    with os.scandir(folder) as scan:
        entries = list(islice(scan, _MOST_SCANNED + 1))
    for entry in sorted(entries[:_MOST_SCANNED], key=_order):
        context.check_stop()
        if entry.name.startswith(".") and not hidden:
            continue
        place = folder / entry.name
        yield _line(entry, context.workspace.show(place))
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_folder and depth > 1 and entry.name not in SKIPPED_FOLDERS:
            yield from _below(context, place, depth - 1, hidden=hidden)
    if len(entries) > _MOST_SCANNED:
        yield f"[{context.workspace.show(folder)} has more than {_MOST_SCANNED:,} entries.]"


def _below(context: ToolContext, folder: Path, depth: int, *, hidden: bool) -> Iterator[str]:
    try:
        yield from _listing(context, folder, depth, hidden=hidden)
    except OSError as error:
        # One closed sub-directory must not hide all the others.
        yield f"[{context.workspace.show(folder)} could not be listed: {error.strerror}.]"


def _order(entry: os.DirEntry[str]) -> tuple[bool, str]:
    return not entry.is_dir(follow_symlinks=False), entry.name


def _line(entry: os.DirEntry[str], shown: str) -> str:
    try:
        if entry.is_symlink():
            return f"{shown} -> {Path(entry.path).readlink()}"
        if entry.is_dir():
            return f"{shown}/"
        return f"{shown} ({size_text(entry.stat().st_size)})"
    except OSError:
        # It vanished between being listed and being looked at.
        return f"{shown} (gone)"
