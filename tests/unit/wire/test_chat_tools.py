"""The client's own tools, as a chat request describes them."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.core.errors import InvalidRequest
from hermes.core.turn import ClientTools
from hermes.wire.chat_tools import read_client_tools


def tool(name: str = "f", **function: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, **function}}


def named(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def refusal(**body: Any) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        read_client_tools(body)
    return caught.value


def test_functions_are_offered_as_they_are_described():
    described = tool(description="Looks.", parameters={"type": "object"}, strict=True)
    assert read_client_tools({"tools": [described]}) == ClientTools(tools=(described,))


def test_fields_that_are_null_are_absent():
    assert read_client_tools({"tools": [tool(parameters=None)]}).tools == (tool(),)


@pytest.mark.parametrize("choice", ["auto", "none", "required", named("g")])
def test_a_choice_is_kept(choice: Any):
    tools = [tool("f"), tool("g")]
    read = read_client_tools({"tools": tools, "tool_choice": choice, "parallel_tool_calls": False})
    assert read == ClientTools(tools=tuple(tools), choice=choice, parallel=False)


@pytest.mark.parametrize("mode", ["auto", "required"])
def test_allowed_tools_leave_the_others_out(mode: str):
    choice = {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": [named("g")]}}
    read = read_client_tools({"tools": [tool("f"), tool("g")], "tool_choice": choice})
    assert read == ClientTools(tools=(tool("g"),), choice=mode)


def test_without_tools_there_is_nothing_to_choose_but_that_is_no_error():
    assert read_client_tools({"tools": [], "tool_choice": "auto"}) == ClientTools()
    assert read_client_tools({"tool_choice": "none"}) == ClientTools(choice="none")


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({"tools": "f"}, "tools", "invalid_type"),
        ({"tools": ["f"]}, "tools[0]", "invalid_type"),
        ({"tools": [{"type": "custom", "custom": {}}]}, "tools[0].type", "unsupported_tool"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type", "unsupported_tool"),
        ({"tools": [{"type": "function"}]}, "tools[0].function", "invalid_type"),
        ({"tools": [tool("")]}, "tools[0].function.name", "missing_required_parameter"),
        ({"tools": [tool(), tool()]}, "tools[1].function.name", "invalid_value"),
        ({"tools": [tool(parameters=[])]}, "tools[0].function.parameters", "invalid_type"),
        ({"tools": [tool(strict="x")]}, "tools[0].function.strict", "invalid_type"),
        ({"tools": [tool(description=1)]}, "tools[0].function.description", "invalid_type"),
        ({"tool_choice": "required"}, "tool_choice", "invalid_value"),
        ({"tool_choice": named("f")}, "tool_choice", "invalid_value"),
        ({"tools": [tool()], "tool_choice": "any"}, "tool_choice", "invalid_value"),
        ({"tools": [tool()], "tool_choice": 5}, "tool_choice", "invalid_type"),
        (
            {"tools": [tool()], "tool_choice": named("g")},
            "tool_choice.function.name",
            "invalid_value",
        ),
        (
            {"tools": [tool()], "tool_choice": {"type": "custom"}},
            "tool_choice.type",
            "unsupported_tool",
        ),
        (
            {"tools": [tool()], "tool_choice": {"type": "allowed_tools"}},
            "tool_choice.allowed_tools.tools",
            "invalid_type",
        ),
        ({"tools": [tool()], "parallel_tool_calls": 3}, "parallel_tool_calls", "invalid_type"),
    ],
)
def test_a_tool_that_makes_no_sense_is_refused_by_its_place(
    body: dict[str, Any], param: str, code: str
):
    error = refusal(**body)
    assert (error.param, error.code) == (param, code)
