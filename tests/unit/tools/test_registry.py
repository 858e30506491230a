"""A registry finds tools, describes them, and turns everything that goes wrong into text."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pytest

from hermes.core.errors import SettingsError
from hermes.settings.toolsets import BUILTIN_TOOLSETS
from hermes.tools import builtin
from hermes.tools.base import Tool, ToolContext, ToolProblem, tool
from hermes.tools.registry import FAMILIES, RESULT_LIMIT, Registry


@tool(toolset="play", preview=lambda arguments: f"say {arguments['text']}")
def say(context: ToolContext, text: Annotated[str, "What to say."], times: int = 1) -> str:
    """Say something."""
    return text * times


@tool(toolset="work", preview=lambda _arguments: "work")
def work(context: ToolContext) -> str:
    """Work."""
    context.report("working")
    return "done"


def failing(error: Exception) -> Tool:
    def fail(context: ToolContext) -> str:
        """Fail."""
        raise error

    return tool(toolset="play", preview=lambda _arguments: "")(fail)


def test_the_builtin_tools_are_found_in_their_files() -> None:
    registry = Registry.builtin()
    files = {file.stem for file in Path(builtin.__path__[0]).glob("*.py")} - {"__init__"}
    assert set(registry.names()) == files
    assert {"patch_file", "read_file", "terminal", "ask_user", "delegate"} <= files


def test_every_builtin_toolset_is_on_by_default() -> None:
    assert set(Registry.builtin().toolsets()) | FAMILIES == BUILTIN_TOOLSETS


def test_every_builtin_parameter_is_described_to_the_model() -> None:
    for definition in Registry.builtin().schemas():
        parameters = definition["function"]["parameters"]
        for schema in parameters["properties"].values():
            assert schema["description"].endswith(".")
        assert json.loads(json.dumps(definition)) == definition


def test_schemas_are_chat_completions_tool_definitions_made_once() -> None:
    registry = Registry([say])
    assert registry.schemas() == [
        {
            "type": "function",
            "function": {
                "name": "say",
                "description": "Say something.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string", "description": "What to say."},
                        "times": {"type": "integer", "default": 1},
                    },
                    "required": ["text"],
                    "additionalProperties": False,
                },
            },
        }
    ]
    assert registry.schemas() is registry.schemas()


def test_two_tools_with_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two tools are named 'say'"):
        Registry([say, say])


def test_a_tool_without_a_docstring_is_refused() -> None:
    def silent(context: ToolContext) -> str:
        return ""

    with pytest.raises(TypeError, match="needs a docstring"):
        tool(toolset="play", preview=lambda _arguments: "")(silent)


def test_toolsets_can_be_selected() -> None:
    registry = Registry([say, work])
    assert registry.select(None).names() == ("say", "work")
    assert registry.select({"work"}).names() == ("work",)
    assert registry.select(()).names() == ()
    assert registry.get("say") is say
    assert registry.select({"work"}).get("say") is None


def test_an_unknown_toolset_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingsError, match="found 'games'; allowed: mcp, play, work"):
        Registry([say, work]).select(["games", "play"])


def test_arguments_may_be_json_or_a_mapping(context: ToolContext) -> None:
    registry = Registry([say])
    assert registry.run("say", '{"text": "a", "times": "3"}', context) == "aaa"
    assert registry.run("say", {"text": "b"}, context) == "b"


def test_progress_reaches_the_watcher(context: ToolContext, reports: list[str]) -> None:
    assert Registry([work]).run("work", "", context) == "done"
    assert reports == ["working"]


def test_a_wrong_call_is_answered_with_the_right_one(context: ToolContext) -> None:
    text = Registry([say]).run("say", {"txt": "a"}, context)
    assert "did you mean `text`?" in text
    assert "say(text: string, times: integer = 1)" in text


def test_an_unknown_tool_is_answered_with_the_known_ones(context: ToolContext) -> None:
    text = Registry([say, work]).run("sing", {}, context)
    assert text == "There is no tool named 'sing'. Available tools: say, work."


def test_a_problem_is_the_result(context: ToolContext) -> None:
    assert Registry([failing(ToolProblem("Try b."))]).run("fail", {}, context) == "Try b."


def test_a_crash_is_told_by_its_type_and_logged_with_its_trace(
    context: ToolContext, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        text = Registry([failing(KeyError("private detail"))]).run("fail", {}, context)
    assert "KeyError" in text
    assert "private detail" not in text
    assert caplog.records[0].exc_info is not None
    assert caplog.records[0].getMessage() == "Tool fail crashed"


def test_a_tool_does_not_start_after_the_stop(context: ToolContext, reports: list[str]) -> None:
    context.stop.set()
    assert Registry([work]).run("work", {}, context).startswith("Interrupted")
    assert reports == []


@pytest.mark.parametrize("make", [str, lambda text: ToolProblem(text)])
def test_results_are_capped_and_can_be_carried_by_every_wire(
    context: ToolContext, make: Callable[[str], Any]
) -> None:
    text = "\0\udc80" + "x" * 10 * RESULT_LIMIT + "end"

    def flood(_context: ToolContext) -> str:
        made = make(text)
        if isinstance(made, Exception):
            raise made
        return text

    result = Registry([replace(work, function=flood)]).run("work", {}, context)
    assert len(result) <= RESULT_LIMIT
    assert result.startswith("\\x00\\udc80x")
    assert result.endswith("end")
    assert " characters cut …" in result


def test_previews_are_one_short_line_for_any_arguments() -> None:
    registry = Registry([say])
    assert registry.preview("say", {"text": "a\nb"}) == "say a b"
    assert len(registry.preview("say", {"text": "x" * 1000})) == 100
    assert registry.preview("say", {}) == "say"
    assert registry.preview("unknown", {}) == "unknown"


@pytest.mark.parametrize(
    ("name", "arguments", "preview"),
    [
        ("terminal", {"command": "ls -l"}, "ls -l"),
        ("read_file", {"path": "a.txt"}, "a.txt"),
        ("write_file", {"path": "a.txt", "content": "x"}, "a.txt"),
        ("patch_file", {"path": "a.txt"}, "a.txt"),
        ("list_files", {}, "."),
        ("search_files", {"pattern": "x+"}, "x+"),
        ("read_file", {}, "read_file"),
    ],
)
def test_builtin_previews_say_what_matters(
    name: str, arguments: dict[str, Any], preview: str
) -> None:
    assert Registry.builtin().preview(name, arguments) == preview
