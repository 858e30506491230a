"""A tool call in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes.tools.registry import Registry
from hermes_cli.terminal_style import readable


def call_text(registry: Registry, name: str, arguments: Mapping[str, Any]) -> str:
    """`terminal  ls -la`: the tool, and what it is asked to do as far as it can be told."""
    preview = registry.preview(name, arguments)
    return readable(name if preview == name else f"{name}  {preview}")
