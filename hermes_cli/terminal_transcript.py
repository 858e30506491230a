"""A stored conversation as lines for a terminal: who said what, which tools ran."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from hermes.core.messages import text_of, tool_calls_of
from hermes.tools.registry import Registry
from hermes_cli.terminal_style import Style, readable
from hermes_cli.terminal_times import moment_text
from hermes_cli.terminal_tools import call_text

_TOOL_LINES = 12
_NAMES = {"user": "You", "assistant": "Hermes"}


def transcript(
    session: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], style: Style, now: datetime
) -> Iterator[str]:
    """The lines, without line ends; long results of tools are cut and say so."""
    yield from _heading(session, style, now)
    registry = Registry.builtin()
    speaker = ""
    for message in messages:
        role = str(message["role"])
        if role != "tool" and role != speaker:
            yield ""
            when = style.dim(moment_text(message["timestamp"], now))
            yield f"{style.bold(_NAMES.get(role, role))}  {when}"
            speaker = role
        yield from _body(message, registry, style)


def _heading(session: Mapping[str, Any], style: Style, now: datetime) -> Iterator[str]:
    facts = {
        "Session": session["id"],
        "Title": session["title"],
        "Model": session["model"],
        "Source": session["source"],
        "Started": moment_text(session["started_at"], now),
        "Continues": session["parent_session_id"],
        "Ended": session["end_reason"],
    }
    for name, value in facts.items():
        if value:
            yield style.dim(f"{name + ':':<11}") + readable(str(value))


def _body(message: Mapping[str, Any], registry: Registry, style: Style) -> Iterator[str]:
    if message["role"] == "tool":
        yield from (style.dim(f"    {line}") for line in _cut(text_of(message.get("content"))))
        return
    for line in readable(text_of(message.get("content"))).splitlines():
        yield f"  {line}".rstrip()
    yield from _images(message.get("content"))
    for call in tool_calls_of(dict(message)):
        yield style.dim(f"  ⚙ {call_text(registry, *_call(call))}")


def _images(content: Any) -> Iterator[str]:
    parts = content if isinstance(content, list) else []
    yield from ("  [image]" for part in parts if part.get("type") == "image_url")


def _cut(output: str) -> list[str]:
    lines = readable(output).splitlines()
    if len(lines) <= _TOOL_LINES:
        return lines
    more = len(lines) - _TOOL_LINES
    return [*lines[:_TOOL_LINES], f"… {more} more lines (--json shows all)"]


def _call(call: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """A stored call's tool and arguments; models write the latter, so they may be anything."""
    function = call.get("function") or {}
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except ValueError:
        arguments = {}
    return str(function.get("name", "")), arguments if isinstance(arguments, dict) else {}
