"""A small world of real repositories: a bare upstream, a workspace, a colleague who pushes."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
SETTINGS = ("-c", "user.name=Test", "-c", "user.email=test@example.com")


def run_git(folder: Path, *arguments: str) -> str:
    ours_alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *SETTINGS, *arguments],
        cwd=folder,
        env=ENVIRON | ours_alone,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def commit(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    run_git(folder, "add", name)
    run_git(folder, "commit", "-q", "-m", f"{name}: {text}")


@dataclass(frozen=True, slots=True)
class World:
    """Workspace and colleague are clones of the upstream, which has one file, `story`: "once"."""

    upstream: Path
    workspace: Path
    colleague: Path

    def push(self, name: str, text: str) -> None:
        """The colleague publishes something the workspace does not have yet."""
        commit(self.colleague, name, text)
        run_git(self.colleague, "push", "-q")


def make_world(folder: Path) -> World:
    world = World(folder / "upstream.git", folder / "workspace", folder / "colleague")
    run_git(folder, "init", "-q", "--bare", "-b", "main", str(world.upstream))
    run_git(folder, "clone", "-q", str(world.upstream), str(world.colleague))
    commit(world.colleague, "story", "once")
    run_git(world.colleague, "push", "-q", "-u", "origin", "HEAD:main")
    run_git(folder, "clone", "-q", str(world.upstream), str(world.workspace))
    return world
