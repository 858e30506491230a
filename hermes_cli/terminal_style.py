"""How text looks in a terminal: colours where they are wanted, nothing that moves the cursor."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

import click

_KEPT_CONTROLS = "\n\t"
_CONTROLS = {
    code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in _KEPT_CONTROLS
}


@dataclass(frozen=True, slots=True)
class Style:
    """Makes text stand out or step back; without colours it stays as it is."""

    is_coloured: bool

    def dim(self, text: str) -> str:
        return click.style(text, dim=True) if self.is_coloured else text

    def bold(self, text: str) -> str:
        return click.style(text, bold=True) if self.is_coloured else text

    def green(self, text: str) -> str:
        return click.style(text, fg="green") if self.is_coloured else text

    def yellow(self, text: str) -> str:
        return click.style(text, fg="yellow") if self.is_coloured else text

    def red(self, text: str) -> str:
        return click.style(text, fg="red") if self.is_coloured else text


def style_for(environ: Mapping[str, str], *streams: TextIO) -> Style:
    """Colours, unless NO_COLOR is set or one of the streams is not a terminal."""
    return Style(not environ.get("NO_COLOR") and all(stream.isatty() for stream in streams))


def readable(text: str) -> str:
    """Without control characters: a model's or a tool's words must not command the terminal."""
    return text.translate(_CONTROLS)


def accept_any_text(*streams: TextIO) -> None:
    """Show characters that the terminal's encoding lacks as `?` instead of failing at them."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
