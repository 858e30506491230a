"""The tools of other servers as tools of the agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hermes.core.remote_tools import RemoteCall, RemoteTool
from hermes.tools.base import Tool, ToolContext, ToolProblem
from hermes.tools.output import one_line

FAMILY = "mcp"


class RemoteTools:
    """What a `Toolbox` asks for its `others`. Safe to use from any thread."""

    def __init__(self, source: Callable[[], tuple[RemoteTool, ...]]) -> None:
        """`source` returns the very same tuple for as long as nothing has changed."""
        self._source = source
        self._made: tuple[tuple[RemoteTool, ...], tuple[Tool, ...]] = ((), ())

    def __call__(self) -> tuple[Tool, ...]:
        remote = self._source()
        if remote is not self._made[0]:
            self._made = (remote, tuple(map(tool_of, remote)))
        return self._made[1]


def tool_of(remote: RemoteTool) -> Tool:
    def run(context: ToolContext, /, **arguments: Any) -> str:
        answer = remote.call(
            RemoteCall(arguments=arguments, is_stopped=context.stop.is_set, report=context.report)
        )
        if answer.is_problem:
            raise ToolProblem(answer.text)
        return answer.text

    return Tool(
        name=remote.name,
        description=remote.description,
        parameters=remote.parameters,
        toolset=toolset_of(remote.server),
        function=run,
        preview=lambda arguments: one_line(", ".join(map(str, arguments.values()))),
        is_parallel=remote.is_read_only,
        asks=remote.asks,
    )


def toolset_of(server: str) -> str:
    return f"{FAMILY}:{server}"
