"""The `todo` tool: the list the agent plans its work with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict

from hermes.core.errors import HermesError
from hermes.core.todos import LONGEST, MOST, Todo, TodoLists, TodoStatus, as_lines
from hermes.tools.base import ToolContext, ToolProblem, tool
from hermes.tools.output import one_line
from hermes.tools.services import Services


class Item(TypedDict):
    task: str
    status: Literal["pending", "in_progress", "done", "cancelled"]


def _missing(services: Services) -> str | None:
    return None if services.todos is not None else "No todo lists are kept here."


def _preview(arguments: Mapping[str, Any]) -> str:
    items = arguments.get("items")
    return f"{len(items)} tasks" if isinstance(items, list) else "read"


@tool(toolset="planning", preview=_preview, missing=_missing)
def todo(
    context: ToolContext,
    items: Annotated[
        list[Item] | None, "The whole list, in order; it replaces the one before. Empty clears it."
    ] = None,
) -> str:
    """Keep a list of the steps of your work; without items it is shown.

    For work of three steps or more. Write it first, have one step in progress, and mark each one
    as soon as it is done.
    """
    assert context.services.todos is not None
    lists = context.services.todos
    try:
        if items is None:
            return _shown(lists.read(context.scope.todos))
        return _kept(lists, context, [_todo(item) for item in items])
    except ToolProblem:
        raise
    except HermesError as error:
        raise ToolProblem(str(error)) from error


def _kept(lists: TodoLists, context: ToolContext, todos: list[Todo]) -> str:
    if len(todos) > MOST:
        raise ToolProblem(f"A list has at most {MOST} tasks; put small ones together.")
    lists.write(context.scope.todos, todos)
    return _shown(tuple(todos))


def _shown(todos: tuple[Todo, ...]) -> str:
    if not todos:
        return "The list is empty."
    finished = sum(each.status in (TodoStatus.DONE, TodoStatus.CANCELLED) for each in todos)
    return f"{as_lines(todos)}\n[{finished} of {len(todos)} finished]"


def _todo(item: Mapping[str, Any]) -> Todo:
    """A status that is left out is mended; anything else that does not fit is explained."""
    task = item.get("task")
    if not isinstance(task, str) or not task.strip():
        raise ToolProblem("Each item needs a `task`: what is to be done, in a few words.")
    if len(task.strip()) > LONGEST:
        raise ToolProblem(f"A task has at most {LONGEST} characters: {one_line(task)}")
    try:
        status = TodoStatus(item.get("status") or "pending")
    except ValueError:
        known = ", ".join(each.value for each in TodoStatus)
        raise ToolProblem(f"The `status` of a task is one of {known}.") from None
    return Todo(" ".join(task.split()), status)
