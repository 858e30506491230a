"""The `delegate` tool: a sub-agent with a context and a budget of its own."""

from __future__ import annotations

from typing import Annotated

from hermes.tools.base import ToolContext, ToolProblem, tool
from hermes.tools.errand import Errand
from hermes.tools.schema import Between

_LONGEST = 20_000


@tool(
    toolset="delegation",
    preview=lambda arguments: str(arguments.get("task", "")),
    is_parallel=True,
)
def delegate(
    context: ToolContext,
    task: Annotated[str, "All that is to be done and known: the sub-agent sees nothing else."],
    toolsets: Annotated[list[str], "The toolsets it may use; none named: all of yours."] = [],  # noqa: B006
    max_iterations: Annotated[int, "Model calls it may make.", Between(1, 50)] = 15,
) -> str:
    """Let a sub-agent do a piece of work in a context of its own and return its report.

    For work that is independent and reads a lot, so that your own context stays small. Several
    calls in one reply work side by side. It shares your workspace and cannot ask anybody.
    """
    if context.errands is None:
        raise ToolProblem("A sub-agent cannot send others; do this part yourself.")
    if not task.strip():
        raise ToolProblem("The task is empty; describe what is to be done.")
    if len(task) > _LONGEST:
        raise ToolProblem(f"The task is over {_LONGEST:,} characters; put the material in a file.")
    return context.errands(
        Errand(
            call_id=context.call_id,
            task=task,
            toolsets=tuple(toolsets) or None,
            max_iterations=max_iterations,
        )
    )
