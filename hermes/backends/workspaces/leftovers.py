"""What an agent may leave behind in its copy that git alone would not tell. Blocking; no git."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

_UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
}


def unfinished_business(git_folder: Path) -> list[str]:
    """Remarks on what the agent had begun with git and not ended."""
    begun = [what for name, what in _UNFINISHED.items() if os.path.lexists(git_folder / name)]
    return [f"{what} was left unfinished: look for conflict markers" for what in begun]


class Inner(NamedTuple):
    """A folder inside a copy that has a repository of its own."""

    path: str
    """Relative to the copy."""
    is_submodule: bool
    """Whether git keeps that repository elsewhere; then it was fetched and not made here."""


def inner_repositories(folder: Path) -> list[Inner]:
    """Those directly below `folder`, not those inside of others."""
    found = []
    for path, folders, files in os.walk(folder):
        if path == str(folder):
            folders[:] = [name for name in folders if name != ".git"]
        elif ".git" in folders or ".git" in files:
            found.append(Inner(os.path.relpath(path, folder), is_submodule=".git" in files))
            folders.clear()
    return found
