"""The `read_output` tool: the parts of a tool's output that were cut out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from hermes.tools.base import ToolContext, ToolProblem, tool
from hermes.tools.problem import explained
from hermes.tools.schema import Between
from hermes.tools.services import Services

_MOST = 40_000
_MOST_FOUND = 50
_AROUND = 120


def _missing(services: Services) -> str | None:
    if services.outputs is not None:
        return None
    return "Nothing is kept of what is cut: this agent has no home folder."


@tool(
    toolset="files",
    preview=lambda arguments: str(arguments.get("id", "")),
    is_parallel=True,
    missing=_missing,
)
def read_output(
    context: ToolContext,
    id: Annotated[str, "The id that stands where the output was cut."],
    offset: Annotated[int, "First character to read, counted from 0.", Between(0, 10**9)] = 0,
    limit: Annotated[int, "How many characters to read.", Between(1, _MOST)] = 20_000,
    find: Annotated[str, "Only show where this text stands, from the offset on."] = "",
) -> str:
    """Read a part of a tool's output that was too long and was cut.

    With `find`, answers one `offset: text` per place instead; read on from such an offset.
    """
    text = _text(context, id)
    if offset >= len(text):
        raise ToolProblem(f"The output has only {len(text):,} characters; use a smaller offset.")
    return _found(text, find, offset) if find else _part(text, offset, limit)


def _text(context: ToolContext, output_id: str) -> str:
    outputs = context.services.outputs
    with explained("read the output"):
        text = None if outputs is None else outputs.read(context.scope.holder, output_id)
    if text is None:
        raise ToolProblem(
            f"There is no output {output_id!r}: outputs are kept for a while only. "
            "Run the tool again, and send long output to a file."
        )
    return text


def _part(text: str, offset: int, limit: int) -> str:
    end = min(offset + limit, len(text))
    rest = f"read on with offset={end}" if end < len(text) else "this is its end"
    return f"{text[offset:end]}\n[Characters {offset:,} to {end:,} of {len(text):,}; {rest}.]"


def _found(text: str, wanted: str, offset: int) -> str:
    places = list(islice(_places(text, wanted, offset), _MOST_FOUND + 1))
    if not places:
        raise ToolProblem(f"{wanted!r} does not stand in the output from offset {offset} on.")
    lines = [f"{place}: {_around(text, place, wanted)}" for place in places[:_MOST_FOUND]]
    if len(places) > _MOST_FOUND:
        lines.append(f"[More follow; go on with offset={places[_MOST_FOUND]}.]")
    return "\n".join(lines)


def _places(text: str, wanted: str, offset: int) -> Iterator[int]:
    """One for each line in which it stands."""
    at = text.find(wanted, offset)
    while at >= 0:
        yield at
        line_end = text.find("\n", at)
        at = -1 if line_end < 0 else text.find(wanted, max(line_end, at + 1))


def _around(text: str, place: int, wanted: str) -> str:
    """The line in which it stands; what it has of other lines is shown on the same one."""
    behind = place + len(wanted)
    begin = max(text.rfind("\n", 0, place) + 1, place - _AROUND)
    end = text.find("\n", behind)
    shown = text[begin : min(behind + _AROUND, len(text) if end < 0 else end)]
    return shown.replace("\n", "\\n")
