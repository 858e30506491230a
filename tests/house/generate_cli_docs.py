"""Writes docs/cli.md from the commands' own help: `python tests/house/generate_cli_docs.py`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import hermes_cli.main as command_line
from tests.house.sources import ROOT

PAGE = ROOT / "docs" / "cli.md"
_OPENING = """\
# The command line

This page is the output of `--help`. After changing a command, refresh it with
`.venv/bin/python tests/house/generate_cli_docs.py`.
"""
# Help is wrapped to the terminal; a fixed width keeps the page the same everywhere.
_WIDTH = 88


def root_command() -> click.Group:
    """The group behind `hermes`: the one that is no other group's command."""
    groups = [value for value in vars(command_line).values() if isinstance(value, click.Group)]
    commands = [command for group in groups for command in group.commands.values()]
    return next(group for group in groups if group not in commands)


def render() -> str:
    return "\n".join([_OPENING, *_sections(root_command(), "hermes", None)])


def _sections(command: click.Command, path: str, parent: click.Context | None) -> Iterator[str]:
    name = path.rsplit(" ", 1)[-1]
    context = command.make_context(
        name, [], parent=parent, resilient_parsing=True, terminal_width=_WIDTH
    )
    heading = "#" * min(path.count(" ") + 2, 4)
    yield f"{heading} `{path}`\n\n```\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None and not found.hidden:
                yield from _sections(found, f"{path} {child}", context)


def main() -> None:
    PAGE.write_text(render())


if __name__ == "__main__":
    main()
