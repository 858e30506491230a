"""What strangers say of their tools is made fit, or left out."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.remote_tools import RemoteAnswer, RemoteCall, RemoteTool
from hermes.mcp.offering import (
    ALWAYS_ASKED,
    CALLED_DESTRUCTIVE,
    LARGEST_SCHEMA,
    LONGEST_DESCRIPTION,
    offered,
)
from hermes.settings.mcp_settings import McpServerSettings

SERVER = McpServerSettings(name="one", command="serve")


def unused(_name: str, _wish: RemoteCall) -> RemoteAnswer:
    raise AssertionError("nothing is called here")


def offer(said: dict[str, Any], settings: McpServerSettings = SERVER) -> RemoteTool:
    (made,) = offered(settings, [{"name": "do", "inputSchema": {"type": "object"}, **said}], unused)
    return made


def test_descriptions_are_cut_and_lose_what_cannot_be_read() -> None:
    made = offer({"description": "bell \x07 and \x1b[31mred\u202e\n" + "x" * 10_000})

    assert made.description.startswith("bell  and [31mred\nxxx")
    assert len(made.description) == LONGEST_DESCRIPTION


def test_a_tool_without_a_description_is_described_by_its_title_or_name() -> None:
    assert offer({"title": "Do it"}).description == "Do it"
    assert offer({}).description == "do"


def test_parameters_are_always_an_object_with_properties() -> None:
    assert offer({"inputSchema": {}}).parameters == {"type": "object", "properties": {}}
    assert offer({"inputSchema": {"properties": 7}}).parameters["properties"] == {}


@pytest.mark.parametrize(
    ("approval", "hints", "asks"),
    [
        ("auto", {}, ""),
        ("auto", {"destructiveHint": True}, CALLED_DESTRUCTIVE),
        ("auto", {"destructiveHint": True, "readOnlyHint": True}, ""),
        ("allow", {"destructiveHint": True}, ""),
        ("ask", {"readOnlyHint": True}, ALWAYS_ASKED),
    ],
)
def test_what_must_be_approved_is_for_the_operator_then_for_the_server_to_say(
    approval: Any, hints: dict[str, Any], asks: str
) -> None:
    settings = McpServerSettings(name="one", command="serve", approval=approval)

    assert offer({"annotations": hints}, settings).asks == asks


def test_only_tools_that_read_run_beside_others() -> None:
    assert offer({"annotations": {"readOnlyHint": True}}).is_read_only
    assert not offer({"annotations": {"readOnlyHint": "yes"}}).is_read_only


def test_a_schema_that_no_request_can_carry_leaves_only_its_own_tool_out() -> None:
    deep: dict[str, Any] = {}
    for _ in range(500):
        deep = {"properties": {"a": deep}}
    listed = [
        {"name": "deep", "inputSchema": deep},
        {"name": "large", "inputSchema": {"description": "x" * LARGEST_SCHEMA}},
        {"name": "good", "inputSchema": {}},
    ]

    assert [tool.name for tool in offered(SERVER, listed, unused)] == ["mcp_one_good"]


@given(st.text(max_size=3000), st.text(max_size=100))
def test_any_text_makes_a_tool_that_can_be_sent(description: str, title: str) -> None:
    made = offer({"description": description, "title": title})

    assert orjson.dumps([made.name, made.description, dict(made.parameters)])
