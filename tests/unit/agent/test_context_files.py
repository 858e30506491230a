"""AGENTS.md and skills are read when they change, and never from outside the workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hermes.agent import context_files
from hermes.agent.context_files import MOST_CHARACTERS, ContextFiles, Surroundings
from hermes.tools.skills import SkillShelf


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_files, "LOOK_EVERY_SECONDS", 0)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder.resolve()


def test_an_empty_workspace_tells_nothing(workspace: Path) -> None:
    assert ContextFiles().of(workspace) == Surroundings()


def test_what_changes_is_noticed(workspace: Path) -> None:
    files = ContextFiles()
    assert files.of(workspace).instructions == ""
    (workspace / "AGENTS.md").write_text("Use tabs.\n")
    assert files.of(workspace).instructions == "Use tabs."
    (workspace / "AGENTS.md").write_text("Use spaces, four of them.\n")
    assert files.of(workspace).instructions == "Use spaces, four of them."
    (workspace / "AGENTS.md").unlink()
    assert files.of(workspace).instructions == ""


def test_within_a_second_nothing_is_looked_at_again(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_files, "LOOK_EVERY_SECONDS", 3600)
    files = ContextFiles()
    first = files.of(workspace)
    (workspace / "AGENTS.md").write_text("Use tabs.\n")
    assert files.of(workspace) is first


def test_what_has_not_changed_is_not_read_again(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "AGENTS.md").write_text("Use tabs.\n")
    files = ContextFiles()
    files.of(workspace)
    monkeypatch.setattr(Path, "open", None)
    assert files.of(workspace).instructions == "Use tabs."


def test_a_long_file_is_cut_in_the_middle(workspace: Path) -> None:
    (workspace / "AGENTS.md").write_text("begin" + "x" * 2 * MOST_CHARACTERS + "end")
    text = ContextFiles().of(workspace).instructions
    assert len(text) <= MOST_CHARACTERS
    assert text.startswith("begin")
    assert text.endswith("end")


def test_links_out_pipes_and_folders_are_left_out(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hush")
    file = workspace / "AGENTS.md"
    file.symlink_to(tmp_path / "secret")
    assert ContextFiles().of(workspace).instructions == ""
    file.unlink()
    os.mkfifo(file)
    assert ContextFiles().of(workspace).instructions == ""
    file.unlink()
    file.mkdir()
    assert ContextFiles().of(workspace).instructions == ""


def test_bytes_that_are_no_text_do_no_harm(workspace: Path) -> None:
    (workspace / "AGENTS.md").write_bytes(b"a\xff\0b")
    assert ContextFiles().of(workspace).instructions == "a\ufffd\\x00b"


def test_usable_skills_come_along(workspace: Path, tmp_path: Path) -> None:
    for name, text in (("a", "---\nname: bake\ndescription: x\n---\n"), ("b", "broken")):
        (tmp_path / "skills" / name).mkdir(parents=True)
        (tmp_path / "skills" / name / "SKILL.md").write_text(text)
    found = ContextFiles(SkillShelf(lambda: tmp_path)).of(workspace)
    assert [skill.name for skill in found.skills] == ["bake"]
