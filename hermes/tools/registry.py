"""The tools an agent has: found, described to the model, and run without ever raising."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Callable, Collection, Iterable, Mapping
from types import ModuleType
from typing import Any

from hermes.core.errors import SettingsError
from hermes.core.tool_definitions import ToolDefinitions
from hermes.tools import builtin
from hermes.tools.arguments import fit_arguments
from hermes.tools.base import Tool, ToolContext, ToolProblem
from hermes.tools.output import cap, cut_around, one_line, printable
from hermes.tools.services import Services

RESULT_LIMIT = 50_000
"""Characters of a tool's result that the model gets to read."""

FAMILIES = frozenset({"mcp"})
"""Toolsets of many parts, which may be none: `mcp` stands for `mcp:files`, `mcp:git` and so on."""

_log = logging.getLogger(__name__)


class Registry:
    """A fixed set of tools; immutable, so any number of threads may share one."""

    __slots__ = ("_missing", "_schemas", "_tools")

    def __init__(self, tools: Iterable[Tool], missing: Mapping[str, str] | None = None) -> None:
        """`missing`: why tools cannot be used that a model may know of, by their names."""
        known: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in known:
                raise ValueError(f"two tools are named {tool.name!r}; rename one of them")
            known[tool.name] = tool
        self._tools = known
        self._missing = dict(missing or {})
        self._schemas = ToolDefinitions(_definition(tool) for tool in known.values())

    @classmethod
    def builtin(cls) -> Registry:
        """Every tool in `hermes.tools.builtin`. Adding a tool means adding a file there."""
        names = sorted(module.name for module in pkgutil.iter_modules(builtin.__path__))
        return cls(_only_tool(importlib.import_module(f"{builtin.__name__}.{n}")) for n in names)

    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def tools(self) -> tuple[Tool, ...]:
        return tuple(self._tools.values())

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def toolsets(self) -> dict[str, tuple[str, ...]]:
        """The names of the tools in each toolset."""
        sets: dict[str, tuple[str, ...]] = {}
        for tool in self._tools.values():
            sets[tool.toolset] = (*sets.get(tool.toolset, ()), tool.name)
        return sets

    def select(self, toolsets: Collection[str] | None) -> Registry:
        """The tools of these toolsets only; None means all of them."""
        if toolsets is None:
            return self
        known = self.toolsets().keys() | FAMILIES
        unknown = sorted(each for each in set(toolsets) - known if _family(each) not in FAMILIES)
        if unknown:
            raise SettingsError("toolsets", ", ".join(unknown), ", ".join(sorted(known)))
        return Registry(
            tool
            for tool in self._tools.values()
            if tool.toolset in toolsets or _family(tool.toolset) in toolsets
        )

    def usable(self, services: Services) -> Registry:
        """Without the tools that lack something; those say what it is when they are called."""
        missing = {tool.name: tool.missing(services) for tool in self._tools.values()}
        return Registry(
            (tool for tool in self._tools.values() if missing[tool.name] is None),
            {name: why for name, why in missing.items() if why is not None},
        )

    def schemas(self) -> list[dict[str, Any]]:
        """Chat-completions tool definitions: computed once and shared, so do not change them."""
        return self._schemas

    def preview(self, name: str, arguments: Mapping[str, Any]) -> str:
        """One short line about a call; works for any arguments, also wrong ones."""
        tool = self._tools.get(name)
        if tool is None:
            return name
        try:
            return printable(one_line(tool.preview(arguments))) or name
        except Exception:  # noqa: BLE001  a tool's preview, given arguments nobody has checked yet
            return name

    def run(
        self,
        name: str,
        arguments: str | Mapping[str, Any],
        context: ToolContext,
        on_outcome: Callable[[str], None] = lambda _outcome: None,
    ) -> str:
        """What the model reads as the result. Never raises: mistakes and crashes are text too.

        Which of these it was is told to `on_outcome`: `ok`, `problem` or `crash`.
        """
        try:
            result = self._call(name, arguments, context)
            shown = _readable(result, context)
            on_outcome("ok")
            return shown
        except ToolProblem as problem:
            on_outcome("problem")
            return _readable(str(problem), context)
        except Exception as error:  # noqa: BLE001  the tool's own code, which may be anybody's
            on_outcome("crash")
            _log.exception("Tool %s crashed", name)
            return (
                f"{name} failed unexpectedly ({type(error).__name__}); what it did so far is "
                "unknown. Check the state before you try again or do it another way."
            )

    def fitted(self, name: str, arguments: str | Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the tool will get them; raises `ToolProblem` when it will not."""
        return fit_arguments(name, arguments, self._known(name).parameters)

    def _call(self, name: str, arguments: str | Mapping[str, Any], context: ToolContext) -> str:
        tool = self._known(name)
        fitted = fit_arguments(name, arguments, tool.parameters)
        context.check_stop()
        return tool.function(context, **fitted)

    def _known(self, name: str) -> Tool:
        tool = self._tools.get(name)
        if tool is None and name in self._missing:
            raise ToolProblem(f"{name} cannot be used here. {self._missing[name]}")
        if tool is None:
            available = ", ".join(self._tools) or "none"
            raise ToolProblem(f"There is no tool named {name!r}. Available tools: {available}.")
        return tool


def _readable(result: str, context: ToolContext) -> str:
    """At most `RESULT_LIMIT` characters; where it can be kept, the rest can be read too."""
    text, outputs = printable(result), context.services.outputs
    if len(text) <= RESULT_LIMIT or outputs is None:
        return cap(text, RESULT_LIMIT)
    try:
        output_id = outputs.keep(context.scope.holder, text)
    except OSError as error:  # a full disk: the result itself must not be lost
        _log.warning("What was cut of a tool's output cannot be kept: %s", error.strerror)
        output_id = None
    return (
        cap(text, RESULT_LIMIT) if output_id is None else cut_around(text, RESULT_LIMIT, output_id)
    )


def _family(toolset: str) -> str:
    return toolset.partition(":")[0]


def _definition(tool: Tool) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}


def _only_tool(module: ModuleType) -> Tool:
    tools = [value for value in vars(module).values() if isinstance(value, Tool)]
    if len(tools) != 1:
        raise TypeError(f"{module.__name__} must define exactly one tool, it has {len(tools)}")
    return tools[0]
