"""Files are written whole, and the answer says what was written."""

from __future__ import annotations

import stat
from collections.abc import Callable

import pytest

from hermes.tools.base import ToolContext

Run = Callable[..., str]


def test_a_new_file_gets_its_folders(run: Run, context: ToolContext) -> None:
    result = run("write_file", path="a/b/c.txt", content="é\ntwo\n")
    assert result == "Created a/b/c.txt: 7 bytes, 2 lines."
    assert (context.workspace.root / "a/b/c.txt").read_text() == "é\ntwo\n"
    assert stat.S_IMODE((context.workspace.root / "a").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("content", "lines"), [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n", 1)]
)
def test_lines_are_counted(run: Run, content: str, lines: int) -> None:
    assert run("write_file", path="f", content=content).endswith(f" {lines} lines.")


def test_an_existing_file_is_replaced_and_keeps_its_mode(run: Run, context: ToolContext) -> None:
    script = context.workspace.root / "run.sh"
    script.write_text("old")
    script.chmod(0o755)
    assert run("write_file", path="run.sh", content="new").startswith("Replaced run.sh")
    assert (script.read_text(), stat.S_IMODE(script.stat().st_mode)) == ("new", 0o755)


def test_line_ends_are_written_as_given(run: Run, context: ToolContext) -> None:
    run("write_file", path="dos.txt", content="a\r\nb\n")
    assert (context.workspace.root / "dos.txt").read_bytes() == b"a\r\nb\n"


def test_a_link_inside_stays_a_link(run: Run, context: ToolContext) -> None:
    root = context.workspace.root
    (root / "link").symlink_to("target")
    run("write_file", path="link", content="x")
    assert (root / "link").is_symlink()
    assert (root / "target").read_text() == "x"


def test_what_cannot_be_written_is_explained(run: Run, context: ToolContext) -> None:
    (context.workspace.root / "folder").mkdir()
    (context.workspace.root / "file").touch()
    assert "is a directory" in run("write_file", path="folder", content="")
    assert "outside the workspace" in run("write_file", path="../x", content="")
    assert "half a surrogate pair" in run("write_file", path="x", content="\ud800")
    assert run("write_file", path="file/x", content="").startswith("Could not write file/x")
    assert run("write_file", path="n" * 300, content="").startswith("Could not write nnn")
    assert sorted(each.name for each in context.workspace.root.iterdir()) == ["file", "folder"]
