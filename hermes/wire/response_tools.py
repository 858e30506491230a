"""The `tools` and the `tool_choice` of a Responses request: what is repeated, what is offered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.core.turn import ClientTools
from hermes.wire.chat_tools import unsupported_tool
from hermes.wire.lenient import boolean, choice, mapping, required_text, shown, text, wrong_type

Tool = dict[str, Any]
Choice = str | dict[str, Any]

_CHOICES = ("none", "auto", "required")


def read_tools(value: Any) -> list[Tool]:
    """Functions, with every key present as strict readers want it; other kinds are refused."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise wrong_type("tools", "a list", value)
    return [_tool(raw, f"tools[{at}]") for at, raw in enumerate(value)]


def _tool(raw: Any, param: str) -> Tool:
    if not isinstance(raw, dict):
        raise wrong_type(param, "a tool object", raw)
    kind = required_text(raw, "type", param=f"{param}.type")
    if kind != "function":
        raise unsupported_tool(kind, param=f"{param}.type")
    return {
        "type": "function",
        "name": required_text(raw, "name", param=f"{param}.name"),
        "description": text(raw, "description", param=f"{param}.description"),
        "parameters": mapping(raw, "parameters", param=f"{param}.parameters"),
        "strict": None if raw.get("strict") is None else _strict(raw, param),
    }


def _strict(raw: Tool, param: str) -> bool:
    return boolean(raw, "strict", False, param=f"{param}.strict")


def read_choice(value: Any, tools: Sequence[Tool]) -> Choice:
    """The choice as it is repeated; refused where it names a tool that is not there."""
    if value is None:
        return "auto"
    if isinstance(value, dict):
        return _object_choice(value, tools)
    if value not in _CHOICES:
        raise InvalidRequest(
            f"'tool_choice' must be none, auto, required or an object, not {shown(value)}.",
            param="tool_choice",
            code="invalid_value",
        )
    if value == "required" and not tools:
        raise _no_such_tool("tool_choice", "'tool_choice' is required, but there are no 'tools'.")
    return str(value)


def _object_choice(value: dict[str, Any], tools: Sequence[Tool]) -> dict[str, Any]:
    match required_text(value, "type", param="tool_choice.type"):
        case "function":
            _check_name(value, tools, "tool_choice")
        case "allowed_tools":
            choice(value, "mode", ("auto", "required"), "auto", param="tool_choice.mode")
            for at, allowed in enumerate(_allowed(value)):
                _check_name(allowed, tools, f"tool_choice.tools[{at}]")
        case kind:
            raise InvalidRequest(
                f"A tool_choice of type {shown(kind)} is not served; use function or "
                "allowed_tools.",
                param="tool_choice.type",
                code="unsupported_tool",
            )
    return value


def _allowed(value: Mapping[str, Any]) -> list[Any]:
    allowed = value.get("tools")
    if not isinstance(allowed, list) or not allowed:
        raise wrong_type("tool_choice.tools", "a list of tools", allowed)
    return allowed


def _check_name(named: Any, tools: Sequence[Tool], param: str) -> None:
    if not isinstance(named, dict):
        raise wrong_type(param, "a tool object", named)
    name = required_text(named, "name", param=f"{param}.name")
    if name not in {tool["name"] for tool in tools}:
        raise _no_such_tool(f"{param}.name", f"'{param}' names {shown(name)}, not one of 'tools'.")


def _no_such_tool(param: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, param=param, code="invalid_value")


def client_tools(
    tools: Sequence[Tool], tool_choice: Choice, *, parallel: bool | None
) -> ClientTools:
    """The same for the agent, in the chat-completions shape."""
    offered = [_chat_shape(tool) for tool in tools if _is_allowed(tool, tool_choice)]
    return ClientTools(tools=tuple(offered), choice=_chat_choice(tool_choice), parallel=parallel)


def _is_allowed(tool: Tool, tool_choice: Choice) -> bool:
    if isinstance(tool_choice, str) or tool_choice["type"] != "allowed_tools":
        return True
    return tool["name"] in {allowed["name"] for allowed in tool_choice["tools"]}


def _chat_choice(tool_choice: Choice) -> Choice:
    if isinstance(tool_choice, str):
        return tool_choice
    if tool_choice["type"] == "function":
        return {"type": "function", "function": {"name": tool_choice["name"]}}
    return str(tool_choice.get("mode") or "auto")


def _chat_shape(tool: Tool) -> Tool:
    function = {key: value for key, value in tool.items() if key != "type" and value is not None}
    return {"type": "function", "function": function}
