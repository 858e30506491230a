"""The `memory` tool: facts that outlast the conversation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

from hermes.core.errors import HermesError
from hermes.core.memories import Memories, Memory, MemoryScope, fit_text
from hermes.tools.base import ToolContext, ToolProblem, tool
from hermes.tools.output import cap
from hermes.tools.services import Services

_MOST_LISTED = 50
_MOST_TEXT = 20_000


_OFF = "Memories are switched off; the operator can allow them with memory.enabled: true."


def _missing(services: Services) -> str | None:
    return None if services.memories is not None and services.memories.is_enabled() else _OFF


@tool(
    toolset="memory",
    preview=lambda arguments: " ".join(
        filter(None, (str(arguments.get(name, "")) for name in ("action", "text", "id")))
    ),
    missing=_missing,
)
def memory(
    context: ToolContext,
    action: Annotated[Literal["add", "list", "update", "remove"], "What to do."],
    text: Annotated[
        str, "The fact to add or to put in the place of another; for list: words."
    ] = "",
    id: Annotated[str, "Which one to update or remove, such as mem_1a2b."] = "",
) -> str:
    """Remember facts about this user for later conversations, and correct or forget them.

    Remember what will still be true and useful next time: preferences, names, decisions. One fact
    at a time, in a sentence that can be understood alone. Never secrets.
    """
    memories, scope = context.services.memories, context.scope.memories
    if memories is None or not memories.is_enabled():
        raise ToolProblem(_OFF)
    with _explained():
        match action:
            case "add":
                return f"Remembered as {memories.add(scope, fit_text(text)).id}."
            case "list":
                return _listed(memories, scope, text)
            case "update":
                changed = memories.change(scope, _named(id), fit_text(text))
                return f"{_existing(changed, id).id} is changed."
            case "remove":
                if not memories.remove(scope, _named(id)):
                    raise _unknown(id)
                return f"{id} is forgotten."


@contextmanager
def _explained() -> Iterator[None]:
    """What the store and the rules refuse becomes text for the model."""
    try:
        yield
    except ToolProblem:
        raise
    except HermesError as error:
        raise ToolProblem(str(error)) from error


def _listed(memories: Memories, scope: MemoryScope, words: str) -> str:
    page = memories.find(scope, words, limit=_MOST_LISTED)
    if not page.memories:
        about = f" that has the words {words.strip()!r}" if words.strip() else ""
        return f"Nothing is remembered{about}."
    lines = [f"{each.id}: {each.text}" for each in page.memories]
    if page.has_more:
        lines.append(f"[Only the latest {_MOST_LISTED}; name words in `text` to find others.]")
    return cap("\n".join(lines), _MOST_TEXT)


def _named(id: str) -> str:
    if not id.strip():
        raise ToolProblem("`id` is required: list the memories to see their ids.")
    return id.strip()


def _existing(found: Memory | None, id: str) -> Memory:
    if found is None:
        raise _unknown(id)
    return found


def _unknown(id: str) -> ToolProblem:
    return ToolProblem(f"There is no memory {id.strip()!r}; list the memories to see their ids.")
