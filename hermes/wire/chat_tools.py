"""The tools a chat client brings along, and what the model may do with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.core.turn import ClientTools
from hermes.wire.lenient import boolean, choice, mapping, required_text, shown, text, wrong_type

Tool = dict[str, Any]

_WORDS = ("none", "auto", "required")


def read_client_tools(body: Mapping[str, Any]) -> ClientTools:
    """`tools`, `tool_choice` and `parallel_tool_calls`, in the chat-completions shape."""
    tools = _tools(body.get("tools"))
    parallel = boolean(body, "parallel_tool_calls", True)
    wanted, offered = _choice(body.get("tool_choice"), tools)
    return ClientTools(
        tools=tuple(offered),
        choice=wanted,
        parallel=parallel if body.get("parallel_tool_calls") is not None else None,
    )


def unsupported_tool(kind: Any, *, param: str) -> InvalidRequest:
    return InvalidRequest(
        f"Tools of type {shown(kind)} are not supported; describe the tool as a 'function'.",
        param=param,
        code="unsupported_tool",
    )


def _tools(value: Any) -> list[Tool]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise wrong_type("tools", "a list of tools", value)
    tools = [_tool(raw, f"tools[{at}]") for at, raw in enumerate(value)]
    _refuse_twins(tools)
    return tools


def _tool(raw: Any, param: str) -> Tool:
    if not isinstance(raw, dict):
        raise wrong_type(param, "a tool object", raw)
    if raw.get("type", "function") != "function":
        raise unsupported_tool(raw["type"], param=f"{param}.type")
    function = raw.get("function")
    if not isinstance(function, dict):
        raise wrong_type(f"{param}.function", "an object", function)
    required_text(function, "name", param=f"{param}.function.name")
    text(function, "description", param=f"{param}.function.description")
    parameters = function.get("parameters")
    if parameters is not None and not isinstance(parameters, dict):
        raise wrong_type(f"{param}.function.parameters", "a JSON schema object", parameters)
    boolean(function, "strict", False, param=f"{param}.function.strict")
    given = {key: value for key, value in function.items() if value is not None}
    return {"type": "function", "function": given}


def _refuse_twins(tools: Sequence[Tool]) -> None:
    seen: set[str] = set()
    for at, tool in enumerate(tools):
        name = tool["function"]["name"]
        if name in seen:
            raise InvalidRequest(
                f"Two tools are called {shown(name)}; give each a name of its own.",
                param=f"tools[{at}].function.name",
                code="invalid_value",
            )
        seen.add(name)


def _choice(value: Any, tools: Sequence[Tool]) -> tuple[str | dict[str, Any], Sequence[Tool]]:
    """What the model may do, and the tools it may do it with."""
    if value is None or value in ("auto", "none"):
        return value or "auto", tools
    if not tools:
        raise InvalidRequest(
            "'tool_choice' asks for a call, but there are no 'tools' to choose from.",
            param="tool_choice",
            code="invalid_value",
        )
    if isinstance(value, str):
        return choice({"tool_choice": value}, "tool_choice", _WORDS, "auto"), tools
    if not isinstance(value, dict):
        raise wrong_type("tool_choice", "none, auto, required or an object", value)
    match value.get("type"):
        case "function":
            return _named(value, tools, "tool_choice"), tools
        case "allowed_tools":
            return _allowed(value, tools)
        case kind:
            raise unsupported_tool(kind, param="tool_choice.type")


def _named(value: Mapping[str, Any], tools: Sequence[Tool], param: str) -> dict[str, Any]:
    function = mapping(value, "function") or {}
    name = required_text(function, "name", param=f"{param}.function.name")
    if name not in {tool["function"]["name"] for tool in tools}:
        raise InvalidRequest(
            f"'{param}' names {shown(name)}, which is not among the 'tools'.",
            param=f"{param}.function.name",
            code="invalid_value",
        )
    return {"type": "function", "function": {"name": name}}


def _allowed(value: Mapping[str, Any], tools: Sequence[Tool]) -> tuple[str, Sequence[Tool]]:
    allowed = mapping(value, "allowed_tools") or value
    named = allowed.get("tools")
    if not isinstance(named, list):
        raise wrong_type("tool_choice.allowed_tools.tools", "a list of tools", named)
    names = set()
    for at, raw in enumerate(named):
        param = f"tool_choice.allowed_tools.tools[{at}]"
        if not isinstance(raw, dict):
            raise wrong_type(param, "a tool object", raw)
        names.add(_named(raw, tools, param)["function"]["name"])
    mode = choice(allowed, "mode", ("auto", "required"), "auto")
    return mode, [tool for tool in tools if tool["function"]["name"] in names]
