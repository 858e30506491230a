"""Only the owner can read what is stored."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes.store.files import make_private


@pytest.fixture(params=[0o000, 0o022, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_and_every_new_directory_belong_to_the_owner_alone(
    umask: int, tmp_path: Path
) -> None:
    path = tmp_path / "home" / "deeper" / "state.db"
    make_private(path)
    assert [mode(place) for place in (path, path.parent, path.parent.parent)] == [
        0o600,
        0o700,
        0o700,
    ]


def test_an_existing_file_and_its_sidecars_are_tightened_and_keep_their_content(
    tmp_path: Path,
) -> None:
    files = [tmp_path / name for name in ("state.db", "state.db-wal", "state.db-shm")]
    for file in files:
        file.write_text("kept")
        file.chmod(0o644)
    make_private(files[0])
    assert [(mode(file), file.read_text()) for file in files] == [(0o600, "kept")] * 3


def test_an_existing_directory_is_left_as_it_is(tmp_path: Path) -> None:
    directory = tmp_path / "shared"
    directory.mkdir()
    directory.chmod(0o755)
    make_private(directory / "state.db")
    assert mode(directory) == 0o755
