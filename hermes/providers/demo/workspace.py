"""The files a new demo workspace starts with: something to list, read, search and delete."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

_README = """\
# Your workspace

This folder belongs to the agent. It lists, reads, writes and searches files here, and its commands
start here. Put your own files next to this one, or delete everything: nothing depends on it.

Things to ask for:

- what files are there?
- read notes.txt
- search for TODO
- create a file hello.txt with Hello there! and then read it
- run `uname -a`
- run `rm -r build` (you will be asked first)
"""

_NOTES = """\
Notes
=====

- The demo model answers until you connect a real one.
- TODO: set OPENAI_API_KEY or ANTHROPIC_API_KEY and restart the server.
- TODO: ask the agent to write a file of your own.
"""

_BUILT = "Made by a build that nobody needs any more.\n"

DEMO_FILES: Mapping[str, str] = MappingProxyType(
    {"README.md": _README, "notes.txt": _NOTES, "build/output.txt": _BUILT}
)
"""Path to content."""


def furnish(workspace: Path) -> None:
    """Write `DEMO_FILES`, but only into a folder that is new or empty."""
    workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(workspace.iterdir()):
        return
    for name, content in DEMO_FILES.items():
        file = workspace / name
        file.parent.mkdir(mode=0o700, exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(content, encoding="utf-8")
