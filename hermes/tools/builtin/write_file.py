"""The `write_file` tool: a whole file, written in one step."""

from __future__ import annotations

from typing import Annotated

from hermes.private_files import create_folders, replace_file
from hermes.tools.base import ToolContext, ToolProblem, tool
from hermes.tools.problem import explained
from hermes.tools.tracking import tracked_file


@tool(toolset="files", preview=lambda arguments: str(arguments.get("path", "")))
def write_file(
    context: ToolContext,
    path: Annotated[str, "The file, relative to the workspace."],
    content: Annotated[str, "The complete new content."],
) -> str:
    """Write a file, replacing what was there. Missing directories are created.

    To change a part of an existing file use patch_file.
    """
    place = context.workspace.resolve(path)
    shown = context.workspace.show(place)
    try:
        encoded = content.encode()
    except UnicodeEncodeError as error:
        raise ToolProblem("content has half a surrogate pair, which no file can hold.") from error
    with explained(f"write {shown}"):
        if place.is_dir():
            raise ToolProblem(f"{shown} is a directory; give the path of a file.")
        is_new = not place.exists()
        with tracked_file(context, place):
            create_folders(place.parent)
            replace_file(place, encoded)
    lines = len(content.split("\n")) - (content.endswith("\n") or not content)
    done = "Created" if is_new else "Replaced"
    return f"{done} {shown}: {len(encoded):,} bytes, {lines:,} lines."
