"""A directory is listed with folders first, and what is left out is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hermes.tools.base import ToolContext

Run = Callable[..., str]


@pytest.fixture
def root(context: ToolContext) -> Path:
    root = context.workspace.root
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "main.py").write_text("x" * 1500)
    (root / "src" / "deep" / "leaf.py").touch()
    (root / "a.txt").write_text("hello")
    (root / ".git").mkdir()
    (root / ".git" / "config").touch()
    (root / "out").symlink_to("/etc")
    return root


def test_folders_come_first_and_files_have_sizes(run: Run, root: Path) -> None:
    assert run("list_files").split("\n") == ["src/", "a.txt (5 bytes)", "out -> /etc"]


def test_depth_descends_with_paths_that_can_be_used(run: Run, root: Path) -> None:
    assert run("list_files", depth=2).split("\n")[:3] == [
        "src/",
        "src/deep/",
        "src/main.py (1.5 kB)",
    ]
    assert "src/deep/leaf.py (0 bytes)" in run("list_files", depth=5)
    assert run("list_files", path="src").split("\n")[0] == "src/deep/"


def test_links_are_not_followed(run: Run, root: Path) -> None:
    assert "out/" not in run("list_files", depth=5)
    assert "outside the workspace" in run("list_files", path="out")


def test_hidden_names_are_shown_on_request_but_git_is_not_entered(run: Run, root: Path) -> None:
    listing = run("list_files", hidden=True, depth=3)
    assert ".git/" in listing
    assert "config" not in listing


def test_a_long_listing_is_cut_and_says_so(run: Run, root: Path) -> None:
    for number in range(600):
        (root / "src" / f"{number}.txt").touch()
    lines = run("list_files", path="src").split("\n")
    assert len(lines) == 501
    assert lines[-1].startswith("[Only the first 500 entries")


def test_what_cannot_be_listed_is_explained(run: Run, root: Path) -> None:
    assert run("list_files", path="a.txt") == "a.txt is a file; use read_file."
    assert run("list_files", path="none") == "none is missing; list its parent directory."
    assert "`depth` must be between 1 and 5" in run("list_files", depth=6)
    (root / "empty").mkdir()
    assert run("list_files", path="empty", hidden=True) == "empty is empty."


def test_names_that_are_no_text_can_be_shown(run: Run, root: Path) -> None:
    (root / "bad\udcff.txt").touch()
    assert "bad\\udcff.txt (0 bytes)" in run("list_files")
