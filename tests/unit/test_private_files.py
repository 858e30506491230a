"""Files are replaced in one step, or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from hermes.private_files import create_folders, replace_file


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_private(tmp_path: Path) -> None:
    replace_file(tmp_path / "new", b"content")
    assert (tmp_path / "new").read_bytes() == b"content"
    assert mode(tmp_path / "new") == 0o600


@pytest.mark.parametrize("kept", [0o755, 0o640, 0o444])
def test_an_existing_file_keeps_its_mode(tmp_path: Path, kept: int) -> None:
    target = tmp_path / "script"
    target.write_text("old")
    target.chmod(kept)
    replace_file(target, b"new")
    assert (target.read_text(), mode(target)) == ("new", kept)


def test_a_reader_of_the_old_file_keeps_seeing_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("old")
    with target.open() as reader:
        replace_file(target, b"new")
        assert reader.read() == "old"


def test_a_failed_write_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    with pytest.raises(OSError):
        replace_file(target, b"x")
    assert list(tmp_path.iterdir()) == [target]


def test_created_folders_are_private_and_existing_ones_untouched(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    create_folders(tmp_path / "a" / "b")
    assert [mode(each) for each in (tmp_path, tmp_path / "a", tmp_path / "a" / "b")] == [
        0o755,
        0o700,
        0o700,
    ]
