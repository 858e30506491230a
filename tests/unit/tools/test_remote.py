"""Tools of other servers are tools like all others."""

from __future__ import annotations

from typing import Any

from hermes.core.remote_tools import RemoteAnswer, RemoteCall, RemoteTool
from hermes.tools.base import ToolContext
from hermes.tools.registry import Registry
from hermes.tools.remote import RemoteTools, tool_of
from hermes.tools.toolbox import Toolbox


def remote(name: str = "mcp_one_do", **fields: Any) -> RemoteTool:
    made: dict[str, Any] = {
        "name": name,
        "server": "one",
        "description": "Does it.",
        "parameters": {"type": "object", "properties": {"context": {"type": "integer"}}},
        "call": lambda wish: RemoteAnswer(text=f"did {dict(wish.arguments)}"),
    }
    return RemoteTool(**{**made, **fields})


def test_arguments_of_any_name_reach_the_server(context: ToolContext) -> None:
    registry = Registry([tool_of(remote())])

    said = registry.run("mcp_one_do", '{"context": "7", "self": 1, "no name": [2]}', context)

    assert said == "did {'context': 7, 'self': 1, 'no name': [2]}"


def test_a_problem_is_what_the_model_reads(context: ToolContext) -> None:
    def refuse(wish: RemoteCall) -> RemoteAnswer:
        wish.report("half way")
        return RemoteAnswer(text="not today", is_problem=True)

    registry = Registry([tool_of(remote(call=refuse))])

    assert registry.run("mcp_one_do", {}, context) == "not today"


def test_what_the_server_says_of_a_tool_is_kept() -> None:
    tool = tool_of(remote(is_read_only=True, asks="may destroy something"))

    assert (tool.toolset, tool.is_parallel, tool.asks) == (
        "mcp:one",
        True,
        "may destroy something",
    )
    assert tool.preview({"path": "a", "deep": True}) == "a, True"


def test_a_toolbox_has_them_while_they_are_there() -> None:
    listed: list[tuple[RemoteTool, ...]] = [(remote(),)]
    toolbox = Toolbox(others=RemoteTools(lambda: listed[0]))
    first = toolbox.of(("mcp",))

    assert first.names() == ("mcp_one_do",)
    assert toolbox.of(("mcp:one",)).names() == ("mcp_one_do",)
    assert toolbox.of(("mcp:other", "files")).get("mcp_one_do") is None
    assert toolbox.of(("mcp",)) is first
    assert toolbox.whole() is toolbox.whole()

    listed[0] = ()
    assert toolbox.of(("mcp",)).names() == ()
    assert toolbox.whole().get("mcp_one_do") is None
