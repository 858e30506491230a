"""What an agent may leave behind in its copy that git alone would not tell. Blocking; no git."""

from __future__ import annotations

import os
from pathlib import Path

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


def inner_repositories(folder: Path) -> list[str]:
    """Folders below `folder` that have a repository of their own, relative to it."""
    found = []
    for path, folders, files in os.walk(folder):
        if path == str(folder):
            folders[:] = [name for name in folders if name != ".git"]
        elif ".git" in folders or ".git" in files:
            found.append(os.path.relpath(path, folder))
            folders.clear()
    return found
