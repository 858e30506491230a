"""A patch changes exactly what was meant, or nothing, and says why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hermes.tools.base import ToolContext

Run = Callable[..., str]


@pytest.fixture
def file(context: ToolContext) -> Path:
    file = context.workspace.root / "a.py"
    file.write_text("def one():\n    return 1\n\ndef two():\n    return 1\n")
    return file


def test_a_unique_text_is_replaced_and_shown_as_a_diff(run: Run, file: Path) -> None:
    result = run("patch_file", path="a.py", old_text="def one", new_text="def uno")
    assert result.startswith("--- a.py\n+++ a.py\n@@ -1,4 +1,4 @@\n-def one():\n+def uno():\n")
    assert file.read_text().startswith("def uno():\n    return 1\n")


def test_an_ambiguous_text_names_its_lines_and_changes_nothing(run: Run, file: Path) -> None:
    before = file.read_text()
    result = run("patch_file", path="a.py", old_text="return 1", new_text="return 2")
    assert "occurs 2 times in a.py (lines 2, 5); nothing was changed" in result
    assert "replace_all" in result
    assert file.read_text() == before


def test_every_occurrence_can_be_replaced(run: Run, file: Path) -> None:
    result = run(
        "patch_file", path="a.py", old_text="return 1", new_text="return 2", replace_all=True
    )
    assert result.count("+    return 2") == 2
    assert file.read_text().count("return 2") == 2


def test_a_text_that_does_not_occur_is_answered_with_the_closest_lines(
    run: Run, file: Path
) -> None:
    result = run("patch_file", path="a.py", old_text="  retrun 1  ", new_text="")
    assert "does not occur in a.py; nothing was changed" in result
    assert "     2\treturn 1\n     5\treturn 1" in result
    result = run("patch_file", path="a.py", old_text="zzzzqqq", new_text="")
    assert "no line is similar" in result


def test_line_feeds_stand_for_the_line_ends_of_the_file(run: Run, file: Path) -> None:
    file.write_bytes(b"a\r\nb\r\nc\r\n")
    run("patch_file", path="a.py", old_text="a\nb", new_text="x\ny\nz")
    assert file.read_bytes() == b"x\r\ny\r\nz\r\nc\r\n"


def test_a_forgiven_difference_is_named_below_the_diff(run: Run, file: Path) -> None:
    old = "  def one():\n      return 1\n"
    result = run("patch_file", path="a.py", old_text=old, new_text=old.replace("1", "2"))
    assert result.endswith(
        "-    return 1\n+    return 2\n \n def two():\n     return 1\n"
        "[Not an exact match; this was not compared: indentation. Check the change.]"
    )
    assert file.read_text() == "def one():\n    return 2\n\ndef two():\n    return 1\n"


def test_what_means_several_places_names_their_lines_and_changes_nothing(
    run: Run, file: Path
) -> None:
    before = file.read_text()
    result = run("patch_file", path="a.py", old_text="  return 1  ", new_text="return 2")
    assert "does not occur exactly in a.py" in result
    assert "Not comparing indentation, it occurs in 2 places (lines 2, 5); nothing was" in result
    assert file.read_text() == before


def test_every_occurrence_means_every_exact_one(run: Run, file: Path) -> None:
    before = file.read_text()
    result = run("patch_file", path="a.py", old_text="  return 1  ", new_text="x", replace_all=True)
    assert "does not occur in a.py; nothing was changed" in result
    assert file.read_text() == before


def test_a_change_of_what_is_not_compared_changes_nothing(run: Run, file: Path) -> None:
    result = run("patch_file", path="a.py", old_text="def one():  \n", new_text="def one():\n")
    assert result == "a.py is so already; nothing was changed."


def test_overlapping_places_are_ambiguous(run: Run, file: Path) -> None:
    file.write_text("x\nx\nx\n")
    result = run("patch_file", path="a.py", old_text="x\nx\n", new_text="y\n")
    assert "occurs 2 times in a.py (lines 1, 2); nothing was changed" in result
    assert file.read_text() == "x\nx\nx\n"


def test_bytes_that_are_no_text_survive(run: Run, file: Path) -> None:
    file.write_bytes(b"caf\xe9\nx = 1\n")
    run("patch_file", path="a.py", old_text="x = 1", new_text="x = 2")
    assert file.read_bytes() == b"caf\xe9\nx = 2\n"


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("", "x", "old_text is empty"),
        ("one", "one", "old_text and new_text are the same"),
        ("one", "\ud800", "half a surrogate pair"),
    ],
)
def test_pointless_patches_are_explained(
    run: Run, file: Path, old: str, new: str, answer: str
) -> None:
    assert answer in run("patch_file", path="a.py", old_text=old, new_text=new)


def test_a_file_too_large_to_patch_is_refused(run: Run, file: Path) -> None:
    file.write_bytes(b"x\n" * 5_000_001)
    assert "is over 10.0 MB" in run("patch_file", path="a.py", old_text="x", new_text="y")


def test_a_missing_file_is_explained(run: Run, file: Path) -> None:
    result = run("patch_file", path="b.py", old_text="x", new_text="y")
    assert result == "b.py does not exist. Did you mean a.py?"
